"""Code for other machines and programs: WebAssembly modules, libraries with C headers, and code compiled beforehand."""
