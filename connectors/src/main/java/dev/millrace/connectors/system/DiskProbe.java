package dev.millrace.connectors.system;

import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import oshi.hardware.HWDiskStore;

/** One row per disk. */
final class DiskProbe implements Probe {
    static final Schema SCHEMA =
            Columns.of("disk:text", "read_bytes", "write_bytes", "reads", "writes", "busy", "queue_length:bigint");

    private static final double MILLIS_PER_SECOND = 1000;

    private final Machine machine;
    private final Map<String, Rate> rates = new HashMap<>();

    DiskProbe(Machine machine) {
        this.machine = machine;
    }

    @Override
    public Schema schema() {
        return SCHEMA;
    }

    @Override
    public List<Object[]> read(long nanoTime) {
        List<Object[]> rows = new ArrayList<>();
        for (HWDiskStore disk : machine.disks(nanoTime)) {
            double[] perSecond = rates.computeIfAbsent(disk.getName(), name -> new Rate())
                    .perSecond(
                            machine.disksNanoTime(),
                            disk.getReadBytes(),
                            disk.getWriteBytes(),
                            disk.getReads(),
                            disk.getWrites(),
                            disk.getTransferTime());
            rows.add(new Object[] {
                disk.getName(),
                perSecond[0],
                perSecond[1],
                perSecond[2],
                perSecond[3],
                Math.min(1, perSecond[4] / MILLIS_PER_SECOND),
                disk.getCurrentQueueLength()
            });
        }
        return rows;
    }
}
