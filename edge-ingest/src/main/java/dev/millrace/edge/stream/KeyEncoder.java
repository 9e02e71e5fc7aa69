package dev.millrace.edge.stream;

import dev.millrace.sketch.stream.StreamEncoder;

/** The encoder of a key, and what the queue does not know of it yet. */
final class KeyEncoder {
    private StreamEncoder encoder;
    private boolean changed; // since the last commit
    private long sinceNanos; // when the first row came that waits

    KeyEncoder(StreamEncoder encoder) {
        this.encoder = encoder;
    }

    StreamEncoder encoder() {
        return encoder;
    }

    void use(StreamEncoder other) {
        encoder = other;
        changed = true;
    }

    void took(int waitingBefore, long nowNanos) {
        changed = true;
        if (waitingBefore == 0 || encoder.waitingRows() <= waitingBefore) {
            sinceNanos = nowNanos;
        }
    }

    /** Since when its first row waits, of those that do. */
    long sinceNanos() {
        return sinceNanos;
    }

    void since(long nanos) {
        sinceNanos = nanos;
    }

    boolean isChanged() {
        return changed;
    }

    void changed() {
        changed = true;
    }

    void committed() {
        changed = false;
    }
}
