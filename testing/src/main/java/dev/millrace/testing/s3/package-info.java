/** A server that speaks S3 in the JVM of a test: {@link dev.millrace.testing.s3.S3Server}. */
package dev.millrace.testing.s3;
