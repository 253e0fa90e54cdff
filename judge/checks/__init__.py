"""What code can check without a model: quotes, orders to a judge, values, names, polarity.

A flag is a reason to look; it never changes a language model's verdict. Where none judges, a
mismatch of a claim with the chunks decides. Each check is made for precision, and overlooks much:

- `quotes`: a quote that was translated, or put in other words, is not found.
- `injection`: orders in other languages than English and Chinese, or in other words than listed.
- `mismatch`: time zones and versions; ordinals, `one`, and a mere number below 13 unless the
  evidence counts the same thing; what figures of the evidence come to; a figure that stands there,
  said of something else; Chinese names of people and firms; a name in other letters (`Beijing`,
  `北京`), or at the start of a sentence.
- `polarity`: whatever is said in other words (`the bar is dry`) or in part of a longer sentence;
  two things that change places; and every word that `contrasts.toml` does not list.
"""
