"""Games in a terminal, over the service: matches between bots as text, and games of people against bots."""
