package dev.millrace.connectors.outbox;

import dev.millrace.testing.connector.SinkConformance;
import dev.millrace.testing.connector.SinkOutside;

/** The outbox over an outside that fails at one of ten steps. */
class OutboxConformanceTest extends SinkConformance {
    @Override
    protected SinkOutside outside() {
        return new MemoryOutside(1, 10);
    }
}
