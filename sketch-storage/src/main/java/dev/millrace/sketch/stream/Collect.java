package dev.millrace.sketch.stream;

/** Placeholder. */
final class Collect {
    private Collect() {}
}
