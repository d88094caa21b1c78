"""Judges histories with `linchpin check` on a Spark cluster, each key by itself.

`lines.py`: what one line of a log is. `gather.py`: what a task does with its lines. `job.py`: how they come together, in
which order.
`judge.py`: what an executor does with them. `table.py`: what is said in the end. `__main__.py`: the command.
"""
