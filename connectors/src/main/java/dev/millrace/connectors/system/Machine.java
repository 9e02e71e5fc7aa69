package dev.millrace.connectors.system;

import java.util.List;
import java.util.OptionalDouble;
import java.util.logging.Level;
import java.util.logging.Logger;
import oshi.SystemInfo;
import oshi.hardware.CentralProcessor;
import oshi.hardware.CentralProcessor.TickType;
import oshi.hardware.GlobalMemory;
import oshi.hardware.HWDiskStore;
import oshi.hardware.HardwareAbstractionLayer;
import oshi.hardware.NetworkIF;
import oshi.software.os.OperatingSystem;
import oshi.util.GlobalConfig;

/**
 * OSHI's handles, made once and kept: finding disks and interfaces takes far longer than reading their counters. What is
 * dear to read is read again only after a while. Not thread-safe.
 */
final class Machine {
    /** How long figures that take tens of milliseconds to read are good for. */
    private static final long SLOW_PERIOD_NANOS = 1_000_000_000;

    /** How long the counters of disks and interfaces are, which take a millisecond each. */
    private static final long DEVICE_PERIOD_NANOS = 200_000_000;

    private static final Logger OSHI_LOG = Logger.getLogger("oshi"); // held, or its level would be forgotten

    static {
        OSHI_LOG.setLevel(Level.OFF); // it warns of what a machine lacks, which NULL says as well
        GlobalConfig.set(GlobalConfig.OSHI_UTIL_MEMOIZER_EXPIRATION, 1); // milliseconds; we choose when to read
    }

    private final CentralProcessor processor;
    private final GlobalMemory memory;
    private final HardwareAbstractionLayer hardware;
    private final OperatingSystem system;
    private final List<HWDiskStore> disks;
    private final List<NetworkIF> networks;

    private long disksNanoTime;
    private boolean disksRead;
    private long networksNanoTime;
    private boolean networksRead;
    private long slowNanoTime;
    private boolean slowRead;
    private long processes;
    private long threads;
    private double temperature;

    Machine() {
        SystemInfo info = new SystemInfo();
        hardware = info.getHardware();
        system = info.getOperatingSystem();
        processor = hardware.getProcessor();
        memory = hardware.getMemory();
        disks = hardware.getDiskStores();
        networks = hardware.getNetworkIFs();
    }

    CentralProcessor processor() {
        return processor;
    }

    GlobalMemory memory() {
        return memory;
    }

    /** The disks, their counters read at {@link #disksNanoTime()}. */
    List<HWDiskStore> disks(long nanoTime) {
        if (!disksRead || nanoTime - disksNanoTime >= DEVICE_PERIOD_NANOS) {
            disks.forEach(HWDiskStore::updateAttributes);
            disksNanoTime = nanoTime;
            disksRead = true;
        }
        return disks;
    }

    long disksNanoTime() {
        return disksNanoTime;
    }

    /** The interfaces but for loopback, their counters read at {@link #networksNanoTime()}. */
    List<NetworkIF> networks(long nanoTime) {
        if (!networksRead || nanoTime - networksNanoTime >= DEVICE_PERIOD_NANOS) {
            networks.forEach(NetworkIF::updateAttributes);
            networksNanoTime = nanoTime;
            networksRead = true;
        }
        return networks;
    }

    long networksNanoTime() {
        return networksNanoTime;
    }

    long processes(long nanoTime) {
        readSlow(nanoTime);
        return processes;
    }

    long threads(long nanoTime) {
        readSlow(nanoTime);
        return threads;
    }

    /** Degrees Celsius of the processor, where there is a sensor. */
    OptionalDouble temperature(long nanoTime) {
        readSlow(nanoTime);
        return temperature > 0 ? OptionalDouble.of(temperature) : OptionalDouble.empty();
    }

    private void readSlow(long nanoTime) {
        if (slowRead && nanoTime - slowNanoTime < SLOW_PERIOD_NANOS) {
            return;
        }
        slowRead = true;
        slowNanoTime = nanoTime;
        processes = system.getProcessCount();
        threads = system.getThreadCount();
        if (temperature >= 0) { // where there is no sensor, looking for it again takes tens of milliseconds
            double celsius = hardware.getSensors().getCpuTemperature();
            temperature = celsius > 0 ? celsius : -1;
        }
    }

    /** Of processor time per second, by kind, the part that was not idle, 0 to 1. */
    static double busy(double[] ticksPerSecond) {
        double total = total(ticksPerSecond);
        double idle = ticksPerSecond[TickType.IDLE.getIndex()] + ticksPerSecond[TickType.IOWAIT.getIndex()];
        return total == 0 ? 0 : (total - idle) / total;
    }

    /** The part of processor time that was of these kinds, 0 to 1. */
    static double share(double[] ticksPerSecond, TickType... kinds) {
        double total = total(ticksPerSecond);
        double sum = 0;
        for (TickType kind : kinds) {
            sum += ticksPerSecond[kind.getIndex()];
        }
        return total == 0 ? 0 : sum / total;
    }

    private static double total(double[] ticksPerSecond) {
        double total = 0;
        for (double ticks : ticksPerSecond) {
            total += ticks;
        }
        return total;
    }
}
