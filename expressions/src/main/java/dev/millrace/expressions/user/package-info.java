/**
 * Users' Java code at work: jars by the hash of their bytes, each loaded once in a class loader of its own and shared by
 * all functions and queries; calls over the images of values ({@link dev.millrace.nested}).
 *
 * <p>Entry: {@link dev.millrace.expressions.user.UserCode} finds code, {@link dev.millrace.expressions.user.UserCall} calls it from
 * generated code. The registry is safe on any thread, a call belongs to one.
 */
package dev.millrace.expressions.user;
