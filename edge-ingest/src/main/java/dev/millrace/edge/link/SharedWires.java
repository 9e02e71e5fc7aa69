package dev.millrace.edge.link;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.edge.wire.Message;
import dev.millrace.edge.wire.MessageCodec;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/** TCP connections of many agents in one process, without TLS: one thread reads and writes them all. Safe on any thread; each wire is its agent's. */
public final class SharedWires implements AutoCloseable {
    private static final int READ_BYTES = 64 << 10;

    private final Selector selector;
    private final Queue<SharedWire> changed = new ConcurrentLinkedQueue<>(); // that the thread has to look at
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(READ_BYTES); // the thread's
    private volatile boolean closed; // written by who closes, read by the thread

    /** @throws IOException if the system has no selector left */
    public SharedWires() throws IOException {
        selector = Selector.open();
        Thread thread = new Thread(this::run, "edge-wires");
        thread.setDaemon(true);
        thread.start();
    }

    /** Begins a connection. */
    public DeviceWire dial(String host, int port) {
        SharedWire wire = new SharedWire(host, port);
        wire.changed();
        return wire;
    }

    private void run() {
        try {
            while (!closed) {
                selector.select();
                for (SharedWire wire = changed.poll(); wire != null; wire = changed.poll()) {
                    wire.look();
                }
                for (SelectionKey key : selector.selectedKeys()) {
                    ((SharedWire) key.attachment()).ready(key);
                }
                selector.selectedKeys().clear();
            }
        } catch (IOException e) {
            closed = true; // wires say so when they are asked
        } finally {
            selector.keys().forEach(key -> ((SharedWire) key.attachment()).end());
            closeSelector();
        }
    }

    private void closeSelector() {
        try {
            selector.close();
        } catch (IOException e) {
            closed = true; // it was to be closed anyway
        }
    }

    /** Ends all connections, soon. */
    @Override
    public void close() {
        closed = true;
        selector.wakeup();
    }

    private final class SharedWire implements DeviceWire {
        private final InetSocketAddress address;
        private final Queue<Message> in = new ConcurrentLinkedQueue<>();
        private final AtomicLong bytes = new AtomicLong();

        @GuardedBy("this") private final Deque<ByteBuffer> out = new ArrayDeque<>();

        private volatile Optional<String> failure = Optional.empty(); // written by the thread, read by the agent's
        private volatile boolean ended; // written by the agent's thread, read by the other
        private Optional<SocketChannel> channel = Optional.empty(); // the thread's, as all below
        private byte[] rest = {}; // of a frame that is not whole yet

        SharedWire(String host, int port) {
            address = new InetSocketAddress(host, port);
        }

        private void changed() {
            changed.add(this);
            selector.wakeup();
        }

        // ---- the thread's

        private void look() {
            try {
                if (ended) {
                    end();
                } else if (channel.isEmpty() && failure.isEmpty()) {
                    SocketChannel opened = SocketChannel.open();
                    channel = Optional.of(opened);
                    opened.configureBlocking(false);
                    opened.setOption(StandardSocketOptions.TCP_NODELAY, true);
                    boolean connected = opened.connect(address);
                    opened.register(selector, connected ? SelectionKey.OP_READ : SelectionKey.OP_CONNECT, this);
                }
                if (channel.isPresent() && channel.get().isConnected()) {
                    write();
                }
            } catch (IOException | RuntimeException e) { // of an address that is none, too
                failed(e);
            }
        }

        private void ready(SelectionKey key) {
            try {
                if (key.isConnectable()) {
                    channel.orElseThrow().finishConnect();
                    key.interestOps(SelectionKey.OP_READ);
                }
                if (key.isReadable()) {
                    read();
                }
                write();
            } catch (CancelledKeyException e) {
                return; // it was closed meanwhile
            } catch (IOException | RuntimeException e) { // of any kind: what came is of no use
                failed(e);
            }
        }

        private void write() throws IOException {
            SocketChannel to = channel.orElseThrow();
            synchronized (this) {
                while (!out.isEmpty()) {
                    bytes.addAndGet(to.write(out.element()));
                    if (out.element().hasRemaining()) {
                        break;
                    }
                    out.remove();
                }
                int interest = SelectionKey.OP_READ | (out.isEmpty() ? 0 : SelectionKey.OP_WRITE);
                to.keyFor(selector).interestOps(interest);
            }
        }

        private void read() throws IOException {
            buffer.clear();
            int read = channel.orElseThrow().read(buffer);
            if (read < 0) {
                throw new EOFException();
            }
            bytes.addAndGet(read);
            byte[] all = Arrays.copyOf(rest, rest.length + read);
            buffer.flip().get(all, rest.length, read);
            ByteBuffer frames = ByteBuffer.wrap(all);
            while (frames.remaining() >= MessageCodec.HEAD_BYTES) {
                int length = MessageCodec.length(frames, MessageCodec.MOST_TO_DEVICE_BYTES);
                if (frames.remaining() < MessageCodec.HEAD_BYTES + length) {
                    break;
                }
                int checksum = frames.getInt(frames.position() + 4);
                byte[] contents = new byte[length];
                frames.position(frames.position() + MessageCodec.HEAD_BYTES).get(contents);
                in.add(MessageCodec.read(checksum, contents));
            }
            rest = Arrays.copyOfRange(all, frames.position(), all.length);
        }

        private void failed(Exception e) {
            String what = e instanceof EOFException ? "the server has closed it" : e.getMessage();
            failure = Optional.of(what == null ? e.getClass().getSimpleName() : what);
            end();
        }

        private void end() {
            try {
                if (channel.isPresent()) {
                    channel.get().close();
                }
            } catch (IOException e) {
                failure = Optional.of(String.valueOf(e.getMessage()));
            }
        }

        // ---- the agent's

        @Override
        public void send(Message message) {
            ByteBuffer frame = ByteBuffer.wrap(MessageCodec.frame(message));
            synchronized (this) {
                out.add(frame);
            }
            changed();
        }

        @Override
        public Optional<Message> receive() {
            return Optional.ofNullable(in.poll());
        }

        @Override
        public Optional<String> failure() {
            if (closed) {
                return Optional.of("all connections are closed");
            }
            return in.isEmpty() ? failure : Optional.empty();
        }

        @Override
        public long bytes() {
            return bytes.get();
        }

        @Override
        public void close() {
            ended = true;
            changed();
        }
    }
}
