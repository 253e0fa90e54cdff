"""What code can check without a model: quotes, orders to a judge, values, polarity.

A flag is a reason to look; it never changes a language model's verdict. Without a language model,
a mismatch between a claim and the chunks decides. Each check favours precision and misses much.
"""
