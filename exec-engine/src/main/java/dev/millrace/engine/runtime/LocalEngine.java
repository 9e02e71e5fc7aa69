package dev.millrace.engine.runtime;

import dev.millrace.time.Clock;

final class LocalEngine {
    private LocalEngine() {}

    static Engine threaded(EngineOptions options, Clock clock) {
        throw new UnsupportedOperationException();
    }

    static SteppedEngine stepped(EngineOptions options, Clock clock, long seed) {
        throw new UnsupportedOperationException();
    }
}
