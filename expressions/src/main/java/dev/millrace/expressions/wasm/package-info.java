/**
 * Users' WebAssembly at work: modules that are read, checked and compiled to classes by Chicory, a runtime in Java, and instances of
 * them. A module is given nothing: no import, no file, no clock; what it can reach is its own memory, which is bounded.
 *
 * <p>Entry: {@link dev.millrace.expressions.wasm.WasmCode} is a module, on any thread; {@link
 * dev.millrace.expressions.wasm.WasmInstance} one with a memory of its own, for one thread at a time. Neither watches how long a
 * call takes: who calls does, and ends one by an interrupt of its thread.
 */
package dev.millrace.expressions.wasm;
