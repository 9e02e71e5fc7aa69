package dev.millrace.server.log;

/** What is logged, and how. */
public record LogOptions(LogLevel level, LogFormat format) {}
