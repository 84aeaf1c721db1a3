"""The static site: the page of ``nainjaune serve`` with a worker that runs the WebAssembly modules in place of the server."""
