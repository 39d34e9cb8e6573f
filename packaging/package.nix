# swizzle for Nix, of this tree:
#
#   nix-build -E 'with import <nixpkgs> {}; callPackage ./packaging/package.nix {}'
#
# libswizzle.so carries its own copy of the disassembler: a static libcapstone.a.
{ lib, stdenv, autoconf, capstone, check, curl, elfutils, libiberty, ncurses
, sqlite, uthash, zlib, zstd }:

let
  capstoneStatic = capstone.overrideAttrs (old: {
    cmakeFlags = (old.cmakeFlags or [ ]) ++ [ "-DBUILD_STATIC_LIBS=ON" "-DBUILD_SHARED_LIBS=OFF" ];
  });
in
stdenv.mkDerivation {
  pname = "swizzle";
  version = "0.2.0";
  src = lib.cleanSource ../.;

  nativeBuildInputs = [ autoconf ];
  buildInputs = [
    capstoneStatic check curl elfutils libiberty ncurses sqlite uthash zlib zstd
  ];

  preConfigure = ''
    patchShebangs scripts completions
    autoconf
  '';
  # configure has no --prefix: make install does
  configurePhase = ''
    runHook preConfigure
    LIBRARY_PATH=$(dirname "$(find ${capstoneStatic} -name libcapstone.a)") ./configure
    runHook postConfigure
  '';
  enableParallelBuilding = true;
  makeFlags = [ "PREFIX=$(out)" ];
  # the library's frames in a profiled program keep their names
  stripDebugList = [ "bin" ];

  meta = {
    description = "Profiler that hooks every function of a program in memory";
    license = lib.licenses.asl20;
    platforms = [ "x86_64-linux" ];
    mainProgram = "swizzle-run";
  };
}
