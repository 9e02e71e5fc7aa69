package dev.millrace.benchmarks.wire;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** What the calling thread took of a processor. */
final class ThreadCpu {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private ThreadCpu() {}

    /** Nanoseconds since some moment. */
    static long nanos() {
        return THREADS.getCurrentThreadCpuTime();
    }
}
