package dev.millrace.connectors.system;

import dev.millrace.type.Schema;
import java.util.List;
import java.util.OptionalDouble;
import oshi.hardware.GlobalMemory;
import oshi.hardware.HWDiskStore;
import oshi.hardware.NetworkIF;

/** One row for the whole machine. */
final class SummaryProbe implements Probe {
    static final Schema SCHEMA = Columns.of(
            "cpu",
            "load1?",
            "load5?",
            "load15?",
            "mem_used:bigint",
            "mem_total:bigint",
            "swap_used:bigint",
            "disk_read_bytes",
            "disk_write_bytes",
            "net_in_bytes",
            "net_out_bytes",
            "processes:integer",
            "threads:integer",
            "temp_c?");

    private final Machine machine;
    private final Rate cpu = new Rate();
    private final Rate disk = new Rate();
    private final Rate network = new Rate();

    SummaryProbe(Machine machine) {
        this.machine = machine;
    }

    @Override
    public Schema schema() {
        return SCHEMA;
    }

    @Override
    public List<Object[]> read(long nanoTime) {
        double busy = Machine.busy(cpu.perSecond(nanoTime, machine.processor().getSystemCpuLoadTicks()));
        double[] load = machine.processor().getSystemLoadAverage(3);
        GlobalMemory memory = machine.memory();
        long diskRead = 0;
        long diskWritten = 0;
        for (HWDiskStore store : machine.disks(nanoTime)) {
            diskRead += store.getReadBytes();
            diskWritten += store.getWriteBytes();
        }
        long received = 0;
        long sent = 0;
        for (NetworkIF card : machine.networks(nanoTime)) {
            received += card.getBytesRecv();
            sent += card.getBytesSent();
        }
        double[] disks = disk.perSecond(machine.disksNanoTime(), diskRead, diskWritten);
        double[] networks = network.perSecond(machine.networksNanoTime(), received, sent);
        OptionalDouble temperature = machine.temperature(nanoTime);
        long total = memory.getTotal();
        return List.<Object[]>of(new Object[] {
            busy,
            known(load[0]),
            known(load[1]),
            known(load[2]),
            total - memory.getAvailable(),
            total,
            memory.getVirtualMemory().getSwapUsed(),
            disks[0],
            disks[1],
            networks[0],
            networks[1],
            machine.processes(nanoTime),
            machine.threads(nanoTime),
            temperature.isPresent() ? temperature.getAsDouble() : UNKNOWN
        });
    }

    /** OSHI says -1 where there is no load average. */
    private static Object known(double load) {
        return load < 0 ? UNKNOWN : load;
    }
}
