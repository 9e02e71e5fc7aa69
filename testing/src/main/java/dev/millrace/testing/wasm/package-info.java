/** Modules of WebAssembly for tests, which are put together byte by byte, as a JDK compiles none. */
package dev.millrace.testing.wasm;
