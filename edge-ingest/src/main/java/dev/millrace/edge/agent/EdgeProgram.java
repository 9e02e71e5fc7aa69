package dev.millrace.edge.agent;

import dev.millrace.edge.config.EdgeConfig;
import dev.millrace.edge.config.EdgeConfigFile;
import dev.millrace.edge.link.BrokerWire;
import dev.millrace.error.MillraceException;
import dev.millrace.storage.disk.RealDisk;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;

/** The agent as a program: until it is told to stop, or all its inputs have ended and all is sent. */
public final class EdgeProgram {
    private static final long IDLE_NANOS =
            100_000_000; // ten looks a second, as each costs a tenth of a percent of a small processor or more
    private static final String USAGE = "usage: edge --config FILE [--check]";

    private EdgeProgram() {}

    public static void main(String[] args) {
        System.setProperty("slf4j.internal.verbosity", "ERROR"); // of Arrow's, which has nothing to say here
        System.exit(run(args));
    }

    /** Returns the exit code. */
    public static int run(String[] args) {
        if (List.of(args).equals(List.of("--warm-up"))) { // of the launcher, which makes an archive of what it loads
            return warmUp();
        }
        Optional<Path> file = Optional.empty();
        boolean check = false;
        for (int i = 0; i < args.length; i++) {
            if (args[i].equals("--check")) {
                check = true;
            } else if (args[i].equals("--config") && i + 1 < args.length) {
                file = Optional.of(Path.of(args[++i]));
            } else {
                System.err.println(USAGE);
                return 2;
            }
        }
        if (file.isEmpty()) {
            System.err.println(USAGE);
            return 2;
        }
        try {
            EdgeConfig config = EdgeConfigFile.read(file.get());
            if (!check) {
                run(config);
            }
            return 0;
        } catch (MillraceException e) {
            say(e.getMessage() + e.hint().map(hint -> "; " + hint).orElse(""));
        } catch (IOException e) {
            say("cannot use the directory " + e.getMessage());
        }
        return 1;
    }

    private static int warmUp() {
        try {
            AgentWarmUp.run();
            return 0;
        } catch (IOException e) {
            say("cannot warm up: " + e.getMessage());
            return 1;
        }
    }

    private static void say(String text) {
        System.err.println("millrace edge: " + text);
    }

    private static void run(EdgeConfig config) throws IOException {
        CountDownLatch closed = new CountDownLatch(1);
        boolean[] stopped = new boolean[1];
        Thread driver = Thread.currentThread();
        Thread hook = new Thread(
                () -> {
                    synchronized (stopped) {
                        stopped[0] = true;
                    }
                    LockSupport.unpark(driver);
                    await(closed);
                },
                "edge-stop");
        Files.createDirectories(config.data());
        try (FileChannel lock = FileChannel.open(
                        config.data().resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock held = locked(lock);
                BufferAllocator allocator = new RootAllocator()) {
            if (held == null) {
                throw new IOException(config.data() + ": another agent has it");
            }
            EdgeAgent.Machine machine =
                    EdgeAgent.Machine.of(new RealDisk(config.data()), allocator, System.in, EdgeProgram::say);
            Runtime.getRuntime().addShutdownHook(hook);
            try (EdgeAgent agent = new EdgeAgent(
                    config,
                    machine,
                    () -> BrokerWire.of(
                            config.server().orElseThrow(),
                            config.device(),
                            machine.random().nextLong()))) {
                drive(agent, stopped);
            }
        } finally {
            closed.countDown();
        }
    }

    private static @org.jspecify.annotations.Nullable FileLock locked(FileChannel file) throws IOException {
        try {
            return file.tryLock();
        } catch (OverlappingFileLockException e) {
            return null; // by another agent of this process
        }
    }

    private static void drive(EdgeAgent agent, boolean[] stopped) {
        while (!agent.isDone()) {
            synchronized (stopped) {
                if (stopped[0]) {
                    return;
                }
            }
            if (!agent.step()) {
                LockSupport.parkNanos(IDLE_NANOS);
            }
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
