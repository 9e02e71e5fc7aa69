/**
 * Users' code at work: jars, modules of WebAssembly and sources in Python by the hash of their bytes, each loaded once and shared by
 * all functions and queries; calls over the images of values ({@link dev.millrace.nested}), as primitives, or over columns. One thread
 * watches all calls, whatever they are in, and ends those that are to end.
 *
 * <p>Entry: {@link dev.millrace.expressions.user.UserCode} , {@link dev.millrace.expressions.user.UserModules} and {@link
 * dev.millrace.expressions.user.UserPython} find code, {@link dev.millrace.expressions.user.UserCall}, {@link
 * dev.millrace.expressions.user.WasmCall} and {@link dev.millrace.expressions.user.PythonCall} call it. The registry is safe on any thread, a call
 * belongs to one.
 */
package dev.millrace.expressions.user;
