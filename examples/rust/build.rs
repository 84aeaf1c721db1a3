//! Finds the library and the module that `nainjaune library FOLDER` has written: `LIBNAINJAUNE` is the folder.

use std::{env, fs, path::Path};

fn main() {
    println!("cargo:rerun-if-env-changed=LIBNAINJAUNE");
    let folder = env::var("LIBNAINJAUNE").expect("LIBNAINJAUNE is the folder that `nainjaune library` has written");
    let folder = fs::canonicalize(&folder).unwrap_or_else(|error| panic!("LIBNAINJAUNE={folder}: {error}"));
    let module = folder.join("nain_jaune.rs");
    println!("cargo:rerun-if-changed={}", module.display());
    fs::copy(&module, Path::new(&env::var("OUT_DIR").unwrap()).join("nain_jaune.rs")).expect("nain_jaune.rs is in LIBNAINJAUNE");
    println!("cargo:rustc-link-search=native={}", folder.display());
    println!("cargo:rustc-link-lib=dylib=nainjaune");
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", folder.display());
}
