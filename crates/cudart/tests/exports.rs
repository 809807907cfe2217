//! The library as a program's loader sees it: the runtime's names, at the runtime's version.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up may panic")]

mod support;

use std::collections::BTreeSet;

use object::read::elf::{ElfFile64, FileHeader as _, SectionHeader as _};
use object::{Endianness, Object as _, ObjectSymbol as _, elf};

/// The names of 13.0.
fn listed() -> BTreeSet<String> {
    include_str!("../exports.txt").lines().map(str::to_owned).collect()
}

#[test]
fn the_list_is_sorted_and_whole() {
    let lines: Vec<&str> = include_str!("../exports.txt").lines().collect();
    assert!(lines.is_sorted());
    assert_eq!((lines.len(), listed().len()), (422, 422));
}

#[test]
fn each_name_is_exported_and_no_other() {
    let bytes = std::fs::read(support::library()).unwrap();
    let file = ElfFile64::<Endianness>::parse(&*bytes).unwrap();
    let defined = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
    let names: BTreeSet<String> = defined
        .filter(|symbol| symbol.kind() == object::SymbolKind::Text)
        .map(|symbol| symbol.name().unwrap().to_owned())
        .collect();
    assert_eq!(names, listed());
}

/// `cudaMalloc@@libcudart.so.13`: without, ld.so warns into the program's standard error.
#[test]
fn each_name_has_the_runtimes_version() {
    let bytes = std::fs::read(support::library()).unwrap();
    let header = elf::FileHeader64::<Endianness>::parse(&*bytes).unwrap();
    let endian = header.endian().unwrap();
    let sections = header.sections(endian, &*bytes).unwrap();
    let symbols = sections.symbols(endian, &*bytes, elf::SHT_DYNSYM).unwrap();
    let versions = sections.versions(endian, &*bytes).unwrap().unwrap();
    let mut counted = 0;
    for (index, symbol) in symbols.enumerate() {
        let name = String::from_utf8_lossy(symbols.symbol_name(endian, symbol).unwrap());
        if !listed().contains(name.as_ref()) {
            continue;
        }
        let version = versions.version(versions.version_index(endian, index)).unwrap();
        assert_eq!(version.unwrap().name(), b"libcudart.so.13", "{name}");
        counted += 1;
    }
    assert_eq!(counted, 422);
}

#[test]
fn it_calls_itself_the_runtime_and_its_file_does_not() {
    let bytes = std::fs::read(support::library()).unwrap();
    let header = elf::FileHeader64::<Endianness>::parse(&*bytes).unwrap();
    let endian = header.endian().unwrap();
    let sections = header.sections(endian, &*bytes).unwrap();
    let (section, dynamic) = sections
        .iter()
        .find_map(|one| Some((one, one.dynamic(endian, &*bytes).unwrap()?.0)))
        .unwrap();
    let strings = sections.strings(endian, &*bytes, section.link(endian)).unwrap();
    let soname = dynamic
        .iter()
        .find(|entry| object::read::elf::Dyn::tag32(*entry, endian) == Some(elf::DT_SONAME));
    let name = object::read::elf::Dyn::string(soname.unwrap(), endian, strings).unwrap();
    assert_eq!(name, b"libcudart.so.13");
    let file = support::library();
    assert!(!file.file_name().unwrap().to_string_lossy().contains("libcudart"));
}

/// What nvcc makes links against either.
#[test]
fn the_list_is_the_toolkits() {
    let Some(toolkit) = support::toolkit() else { return };
    let bytes = std::fs::read(toolkit.join("lib/libcudart.so.13")).unwrap();
    let file = ElfFile64::<Endianness>::parse(&*bytes).unwrap();
    let defined = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
    let names: BTreeSet<String> = defined
        .filter(|symbol| symbol.kind() == object::SymbolKind::Text)
        .map(|symbol| symbol.name().unwrap().to_owned())
        .collect();
    assert_eq!(names, listed());
}
