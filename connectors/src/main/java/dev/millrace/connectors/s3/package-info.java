/**
 * Objects of stores that speak S3's protocol, as files: {@link dev.millrace.connectors.s3.ObjectSource} reads them, by copies on the local disk; {@link
 * dev.millrace.connectors.s3.ObjectStore} is what the sink of a directory uploads by. What a file's bytes mean is known elsewhere. Nothing here waits for the
 * network on a worker's thread: each reader has a thread that fetches ahead.
 */
package dev.millrace.connectors.s3;
