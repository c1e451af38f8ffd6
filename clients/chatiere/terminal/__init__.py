"""Games in a terminal, over the service: matches of bots as lines, and people who play against them."""
