"""Judges histories with `linchpin check` on a Spark cluster, each key by itself.

`lines.py`: what one line of a log is. `job.py`: which lines belong together, in which order.
`judge.py`: what an executor does with them. `table.py`: what is said in the end. `__main__.py`: the command.
"""
