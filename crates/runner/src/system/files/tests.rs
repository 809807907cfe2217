//! Files that are whole or absent, limits, links and hostile names.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use std::collections::BTreeMap;

use super::*;

fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
    (folder, path)
}

fn names(folder: &Utf8Path) -> Vec<String> {
    read_tree(folder, TreeLimits::COURSE)
        .unwrap()
        .into_keys()
        .map(|path| path.to_string())
        .collect()
}

#[test]
fn a_file_is_replaced_whole_and_keeps_its_permissions() {
    let (_guard, folder) = folder();
    let path = folder.join("a");
    write_atomic(&path, "one").unwrap();
    make_executable(&path).unwrap();
    write_atomic(&path, "two").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o100, 0o100);
    assert_eq!(names(&folder), ["a"]);
}

#[test]
fn a_refused_write_names_the_file_and_leaves_nothing() {
    let (_guard, folder) = folder();
    // A folder in the way: the rename fails after the contents were written.
    fs::create_dir(folder.join("a")).unwrap();
    let error = write_atomic(folder.join("a"), "text").unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot write `{folder}/a`: ")), "{error}");
    assert_eq!(names(&folder), ["a"]);
    assert!(write_atomic(folder.join("none/a"), "text").unwrap_err().is_not_found());
}

#[test]
fn a_full_disk_names_the_file() {
    // The kernel's own full disk; it can be opened but no byte fits.
    let error = fs::write("/dev/full", "text").map_err(Error::system("write", "/dev/full"));
    assert!(error.unwrap_err().to_string().contains("No space left on device"));
}

#[test]
fn a_link_is_replaced_and_not_written_through() {
    let (_guard, folder) = folder();
    write_atomic(folder.join("target"), "kept").unwrap();
    symlink("target", folder.join("link")).unwrap();
    write_atomic(folder.join("link"), "new").unwrap();
    assert_eq!(fs::read(folder.join("target")).unwrap(), b"kept");
    assert_eq!(fs::read(folder.join("link")).unwrap(), b"new");
}

#[test]
fn a_folder_is_whole_or_absent() {
    let (_guard, folder) = folder();
    let path = folder.join("deep/made");
    let failed = write_dir_atomic(&path, |inside| {
        write_atomic(inside.join("half"), "x")?;
        read_capped(inside.join("none"), 1).map(|_| ())
    });
    assert!(failed.unwrap_err().is_not_found());
    assert_eq!(names(&folder), ["deep"]);
    let fill = |inside: &Utf8Path| write_atomic(inside.join("file"), "first");
    assert!(write_dir_atomic(&path, fill).unwrap());
    let fill = |inside: &Utf8Path| write_atomic(inside.join("file"), "second");
    assert!(!write_dir_atomic(&path, fill).unwrap());
    assert_eq!(names(&folder), ["deep", "deep/made", "deep/made/file"]);
    assert_eq!(fs::read(path.join("file")).unwrap(), b"first");
}

#[test]
fn reading_is_limited_and_never_waits() {
    let (_guard, folder) = folder();
    let path = folder.join("a");
    write_atomic(&path, "12345").unwrap();
    assert_eq!(read_capped(&path, 5).unwrap(), b"12345");
    let error = read_capped(&path, 4).unwrap_err().to_string();
    assert_eq!(error, format!("`{path}` is larger than the 4 bytes allowed"));
    assert!(matches!(read_capped("/dev/zero", 4), Err(Error::NotAFile { .. })));
    assert!(matches!(read_capped(&folder, 4), Err(Error::NotAFile { .. })));
    let pipe = folder.join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    assert!(matches!(read_capped(&pipe, 4), Err(Error::NotAFile { .. })));
}

#[test]
fn a_tree_is_listed_without_following_links() {
    let (_guard, folder) = folder();
    fs::create_dir_all(folder.join("b/c")).unwrap();
    write_atomic(folder.join("b/c/f"), "123").unwrap();
    symlink("/", folder.join("root")).unwrap();
    symlink(".", folder.join("b/loop")).unwrap();
    let found = read_tree(&folder, TreeLimits::COURSE).unwrap();
    let expect = [
        ("b", FileKind::Folder),
        ("b/c", FileKind::Folder),
        ("b/c/f", FileKind::File { bytes: 3 }),
        ("b/loop", FileKind::Link { target: ".".into() }),
        ("root", FileKind::Link { target: "/".into() }),
    ];
    let expect = expect.map(|(path, kind)| (Utf8PathBuf::from(path), kind));
    assert_eq!(found, BTreeMap::from(expect));
}

#[test]
fn a_tree_has_limits_and_only_readable_names() {
    let (_guard, folder) = folder();
    fs::create_dir_all(folder.join("a/b")).unwrap();
    let shallow = TreeLimits { entries_max: 9, depth_max: 1 };
    assert!(read_tree(&folder, shallow).unwrap_err().to_string().contains("folders deep"));
    let few = TreeLimits { entries_max: 1, depth_max: 9 };
    assert!(read_tree(&folder, few).unwrap_err().to_string().contains("more than 1 entries"));
    fs::write(folder.join("a").as_std_path().join(OsStr::from_bytes(b"x\xff")), "").unwrap();
    let error = read_tree(&folder, TreeLimits::COURSE).unwrap_err().to_string();
    assert_eq!(error, format!("the name `x\u{fffd}` in `{folder}/a` is not UTF-8; rename it"));
}
