"""Lists: every one is declared once (`declared`) and shown, filtered, paged, added up and exported by the same code.

`filters` and `dates` read what stands in the address, `places` turns the pages by keys, `totals` adds up, `exports`
writes files, `kept` remembers what a person chose, and `listing` is what a view gives to its template.
"""
