package dev.millrace.connectors.system;

import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import oshi.hardware.CentralProcessor.TickType;

/** One row per logical processor. */
final class CpuProbe implements Probe {
    static final Schema SCHEMA =
            Columns.of("core:integer", "usage", "user_time", "system_time", "iowait", "irq", "steal", "idle");

    private final Machine machine;
    private final List<Rate> rates = new ArrayList<>();

    CpuProbe(Machine machine) {
        this.machine = machine;
    }

    @Override
    public Schema schema() {
        return SCHEMA;
    }

    @Override
    public List<Object[]> read(long nanoTime) {
        long[][] ticks = machine.processor().getProcessorCpuLoadTicks();
        List<Object[]> rows = new ArrayList<>(ticks.length);
        for (int core = 0; core < ticks.length; core++) {
            if (rates.size() == core) {
                rates.add(new Rate());
            }
            double[] perSecond = rates.get(core).perSecond(nanoTime, ticks[core]);
            rows.add(new Object[] {
                (long) core,
                Machine.busy(perSecond),
                Machine.share(perSecond, TickType.USER, TickType.NICE),
                Machine.share(perSecond, TickType.SYSTEM),
                Machine.share(perSecond, TickType.IOWAIT),
                Machine.share(perSecond, TickType.IRQ, TickType.SOFTIRQ),
                Machine.share(perSecond, TickType.STEAL),
                Machine.share(perSecond, TickType.IDLE)
            });
        }
        return rows;
    }
}
