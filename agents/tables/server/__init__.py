"""The table in the browser: a server that runs the kernel, and a page that shows what it is sent."""
