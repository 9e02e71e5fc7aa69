package dev.millrace.cli.hostile;

import com.sun.tools.attach.VirtualMachine;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.management.MBeanServerConnection;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/**
 * What the threads of a server in another process are at, and how much of the time they had a processor: one that is stuck
 * has one, one that is starved has none. One thread.
 */
final class ServerPicture implements AutoCloseable {
    private static final int MOST_FRAMES = 150;

    private final JMXConnector connector;
    private final ThreadMXBean threads;
    private Map<Long, Long> cpuBefore = new HashMap<>();
    private long nanosBefore = System.nanoTime();

    ServerPicture(long process) throws Exception {
        VirtualMachine machine = VirtualMachine.attach(Long.toString(process));
        try {
            connector = JMXConnectorFactory.connect(new JMXServiceURL(machine.startLocalManagementAgent()));
        } finally {
            machine.detach();
        }
        MBeanServerConnection beans = connector.getMBeanServerConnection();
        threads = ManagementFactory.newPlatformMXBeanProxy(
                beans, ManagementFactory.THREAD_MXBEAN_NAME, ThreadMXBean.class);
    }

    /** The threads that work for statements and queries, but for those that wait for clients and for work. */
    String take() {
        StringBuilder text = new StringBuilder();
        ThreadInfo[] all = threads.dumpAllThreads(false, false);
        long now = System.nanoTime();
        long wallMillis = Math.max(1, TimeUnit.NANOSECONDS.toMillis(now - nanosBefore));
        Map<Long, Long> cpu = new HashMap<>();
        for (ThreadInfo thread : all) {
            long nanos = threads.getThreadCpuTime(thread.getThreadId());
            cpu.put(thread.getThreadId(), nanos);
            long usedMillis = TimeUnit.NANOSECONDS.toMillis(nanos - cpuBefore.getOrDefault(thread.getThreadId(), 0L));
            if (!isAtWork(thread)) {
                continue;
            }
            text.append(thread.getThreadName())
                    .append(' ')
                    .append(thread.getThreadState())
                    .append(", ")
                    .append(usedMillis)
                    .append(" ms of processor in ")
                    .append(wallMillis)
                    .append(" ms\n");
            Arrays.stream(thread.getStackTrace())
                    .filter(frame -> !frame.getClassName().startsWith("java.lang.invoke."))
                    .limit(MOST_FRAMES)
                    .forEach(frame -> text.append("    ").append(frame).append('\n'));
        }
        cpuBefore = cpu;
        nanosBefore = now;
        return text.toString();
    }

    private static boolean isAtWork(ThreadInfo thread) {
        String name = thread.getThreadName();
        if (!name.startsWith("millrace-")) {
            return false;
        }
        boolean works = false;
        for (StackTraceElement frame : thread.getStackTrace()) {
            String method = frame.getClassName() + "." + frame.getMethodName();
            if (method.endsWith("Inbox.await") || method.endsWith("WorkerThreads.await")) {
                return false;
            }
            works |= method.endsWith("PgConnection.converse") || method.endsWith("PipelineTask.step");
        }
        return works || name.startsWith("millrace-worker") && thread.getThreadState() == Thread.State.RUNNABLE;
    }

    @Override
    public void close() throws Exception {
        connector.close();
    }
}
