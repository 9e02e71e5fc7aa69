package dev.millrace.expressions.python;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A process that runs one function: {@code worker.py}, which has the other end of the protocol, tells its frames. For one thread at a time,
 * but for {@link #kill}.
 */
public final class PythonWorker {
    /** Bytes of one answer. */
    private static final int MOST_ANSWER = 64 << 20;

    private static final int MOST_TEXT = 1 << 16;
    private static final byte RESULT = 0;
    private static final byte FAILURE = 1;
    private static final byte PRINTED = 2;
    private static final byte READY = 3;

    /** Variables by which an interpreter finds itself and its packages. No other is passed on: secrets are in them. */
    private static final Set<String> PASSED = Set.of(
            "PATH", "HOME", "LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "TMPDIR", "SystemRoot");

    private static final System.Logger LOG = System.getLogger(PythonWorker.class.getPackageName());
    static final String SCRIPT = script();

    private final PythonFunction function;
    private final PythonOptions options;
    private volatile @Nullable Process process; // written by who starts it, read also by who kills it; null before
    private volatile boolean killed; // written by who kills it, read by who starts it
    private long idleSince;

    PythonWorker(PythonFunction function, PythonOptions options) {
        this.function = function;
        this.options = options;
    }

    private static String script() {
        try (InputStream in = PythonWorker.class.getResourceAsStream("worker.py")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public PythonFunction function() {
        return function;
    }

    void idleSince(long nanos) {
        idleSince = nanos;
    }

    long idleSince() {
        return idleSince;
    }

    /** Whether the process runs, and can be asked again. */
    public boolean isAlive() {
        Process running = process;
        return running != null && running.isAlive();
    }

    /** Ends the process at once, whatever it does; on any thread. */
    public void kill() {
        killed = true;
        Process running = process;
        if (running != null) {
            running.destroyForcibly();
        }
    }

    /**
     * Starts the process, unless it runs, and has it define the function.
     *
     * @throws PythonFailure if there is no such interpreter, or the function cannot be defined
     */
    public void start() throws PythonFailure {
        if (process != null) {
            return;
        }
        try {
            ProcessBuilder builder = new ProcessBuilder(options.command(), "-c", SCRIPT)
                    .directory(new File(System.getProperty("java.io.tmpdir")))
                    .redirectError(ProcessBuilder.Redirect.DISCARD);
            Map<String, String> variables = builder.environment();
            variables.keySet().retainAll(PASSED);
            variables.put("LC_ALL", "C.UTF-8");
            process = builder.start();
        } catch (IOException e) {
            throw new PythonFailure(
                    -1,
                    "cannot run \"" + options.command() + "\": " + e.getMessage()
                            + "; python.command says which interpreter");
        }
        if (killed) {
            kill();
        }
        List<byte[]> texts = new ArrayList<>();
        texts.add(String.valueOf(options.memoryBytes()).getBytes(StandardCharsets.UTF_8));
        function.texts().forEach(text -> texts.add(text.getBytes(StandardCharsets.UTF_8)));
        int bytes = 4 + texts.stream().mapToInt(text -> 4 + text.length).sum();
        ByteBuffer definition = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        definition.putInt(texts.size());
        texts.forEach(text -> definition.putInt(text.length).put(text));
        try {
            ask(definition, READY);
        } catch (PythonFailure e) {
            kill();
            throw e;
        }
    }

    /**
     * Has the function run over a batch.
     *
     * @param request as {@code worker.py} says, behind its length, up to the position
     * @return validity, offsets and data of the result, as many bytes as they may be
     * @throws PythonFailure what the function threw; {@link #isAlive} says whether it can go on
     */
    public ByteBuffer call(ByteBuffer request) throws PythonFailure {
        return ask(request, RESULT);
    }

    private ByteBuffer ask(ByteBuffer request, byte wanted) throws PythonFailure {
        Process running = Objects.requireNonNull(process);
        try {
            OutputStream out = running.getOutputStream();
            out.write(request.array(), 0, request.position());
            out.flush();
            DataInputStream in = new DataInputStream(running.getInputStream());
            while (true) {
                byte kind = in.readByte();
                int length = Integer.reverseBytes(in.readInt());
                if (length < 0 || length > (kind == RESULT ? MOST_ANSWER : MOST_TEXT)) {
                    throw rubbish("an answer of " + Integer.toUnsignedLong(length) + " bytes");
                }
                byte[] content = in.readNBytes(length);
                if (content.length < length) {
                    throw new EOFException();
                }
                ByteBuffer answer = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
                if (kind == wanted) {
                    return answer;
                } else if (kind == PRINTED) {
                    LOG.log(
                            System.Logger.Level.INFO,
                            "function " + function.entry() + " printed: "
                                    + new String(content, StandardCharsets.UTF_8).strip());
                } else if (kind == FAILURE && length >= 4) {
                    int row = answer.getInt();
                    throw new PythonFailure(row, new String(content, 4, length - 4, StandardCharsets.UTF_8));
                } else {
                    throw rubbish("an answer of kind " + kind);
                }
            }
        } catch (IOException e) {
            throw new PythonFailure(-1, "its process ended" + status(running));
        }
    }

    private PythonFailure rubbish(String what) {
        kill();
        return new PythonFailure(-1, "its process gave " + what);
    }

    private static String status(Process ended) {
        try {
            if (ended.waitFor(100, TimeUnit.MILLISECONDS)) {
                int status = ended.exitValue();
                return status > 128 ? ", by signal " + (status - 128) : " with status " + status;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        ended.destroyForcibly();
        return "";
    }
}
