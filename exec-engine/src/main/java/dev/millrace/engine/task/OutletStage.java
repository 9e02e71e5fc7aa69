package dev.millrace.engine.task;

import dev.millrace.batch.Batch;
import dev.millrace.engine.channel.Outlet;

/** Where rows leave a task. */
public final class OutletStage extends Stage {
    private final Outlet outlet;

    public OutletStage(Outlet outlet) {
        this.outlet = outlet;
    }

    Outlet outlet() {
        return outlet;
    }

    @Override
    void process(int port, Batch batch) {
        outlet.rows(batch);
    }

    @Override
    boolean onWatermark(long micros) {
        outlet.watermark(micros);
        if (isIdle()) {
            outlet.idle(); // again: who reads waits for more behind a watermark
        }
        return true;
    }

    @Override
    void idle(int port) {
        super.idle(port);
        outlet.idle();
    }

    @Override
    boolean onEpochEnd(long epoch) {
        outlet.epochEnd(epoch);
        return true;
    }

    @Override
    void close() {
        outlet.close();
    }
}
