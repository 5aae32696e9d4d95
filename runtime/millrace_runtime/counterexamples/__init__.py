"""Search for the shortest input on which two versions of a topology give different results.

Both versions run in this process, on single records and with empty stores, as in a test driver.
Inputs are made from the types of the sources, from the numbers and texts in the expressions and
from the durations in the parameters; inputs that make a node do something for the first time are
kept and varied. What is found is reduced to the fewest and simplest records.
"""
