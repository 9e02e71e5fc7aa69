package dev.millrace.storage.log;

import dev.millrace.storage.disk.DiskFile;

/** A segment that is written to. Its owner closes the file. */
record Segment(SegmentHeader header, DiskFile file) {}
