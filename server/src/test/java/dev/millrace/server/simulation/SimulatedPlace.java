package dev.millrace.server.simulation;

import dev.millrace.server.storage.DataPlace;
import dev.millrace.storage.disk.Disk;

/** A data directory on a simulated disk. */
final class SimulatedPlace implements DataPlace {
    private final Disk disk;
    private boolean taken;

    SimulatedPlace(Disk disk) {
        this.disk = disk;
    }

    boolean isTaken() {
        return taken;
    }

    @Override
    public Taken take() {
        if (taken) {
            throw new AssertionError("two databases have the directory");
        }
        taken = true;
        return new Taken() {
            @Override
            public Disk disk() {
                return disk;
            }

            @Override
            public void close() {
                taken = false;
            }
        };
    }
}
