"""The games as the environments that learners' libraries know. None of them holds a rule.

Each library is an extra: chatiere[pettingzoo], chatiere[openspiel], chatiere[gymnasium].
"""
