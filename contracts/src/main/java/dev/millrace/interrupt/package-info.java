/**
 * How long work is stopped from outside: whoever runs a statement or a query makes an
 * {@link dev.millrace.interrupt.Interrupt}, binds it to the threads that work for it, and stops it; loops anywhere below
 * look at it. It knows nothing of who stops and why.
 */
package dev.millrace.interrupt;
