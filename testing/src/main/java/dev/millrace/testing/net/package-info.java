/** The way between two programs, which a test can take away. */
package dev.millrace.testing.net;
