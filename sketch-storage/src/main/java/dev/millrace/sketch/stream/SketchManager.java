package dev.millrace.sketch.stream;

/** Placeholder. */
final class SketchManager {
    private SketchManager() {}
}
