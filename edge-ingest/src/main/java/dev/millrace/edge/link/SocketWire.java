package dev.millrace.edge.link;

import dev.millrace.edge.config.EdgeConfig.Server;
import dev.millrace.edge.socket.RemoteHost;
import dev.millrace.edge.wire.Message;
import dev.millrace.edge.wire.MessageCodec;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/** A TCP connection, with or without TLS: a thread that connects and writes, and one that reads. */
public final class SocketWire implements DeviceWire {
    private static final int STACK_BYTES = 256 << 10;

    private final LinkedBlockingQueue<Message> out = new LinkedBlockingQueue<>();
    private final ConcurrentLinkedQueue<Message> in = new ConcurrentLinkedQueue<>();
    private final AtomicLong bytes = new AtomicLong();
    private final RemoteHost peer;
    private final Thread writer;
    private volatile Optional<Socket> socket = Optional.empty(); // written by the writer, read by who closes
    private volatile Optional<String> failure = Optional.empty(); // written by both threads, read by the agent's
    private volatile boolean closed; // written by the agent's thread, read by both

    /** Begins to connect. */
    public SocketWire(Server server) {
        this.peer = server.peer();
        this.writer = new Thread(null, this::write, "edge-send", STACK_BYTES);
        writer.setDaemon(true);
        writer.start();
    }

    private void write() {
        try (Socket connected = peer.connect()) {
            socket = Optional.of(connected);
            if (closed) {
                return;
            }
            Thread reader = new Thread(null, () -> read(connected), "edge-receive", STACK_BYTES);
            reader.setDaemon(true);
            reader.start();
            OutputStream to = new BufferedOutputStream(connected.getOutputStream(), 16 << 10);
            while (!closed && failure.isEmpty()) {
                Message next = out.poll();
                if (next == null) {
                    to.flush();
                    next = out.take();
                }
                byte[] frame = MessageCodec.frame(next);
                to.write(frame);
                bytes.addAndGet(frame.length);
            }
        } catch (IOException | GeneralSecurityException e) {
            failed(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void read(Socket from) {
        try {
            DataInputStream input = new DataInputStream(new java.io.BufferedInputStream(from.getInputStream()));
            byte[] head = new byte[MessageCodec.HEAD_BYTES];
            while (!closed) {
                input.readFully(head);
                ByteBuffer of = ByteBuffer.wrap(head);
                byte[] contents = new byte[MessageCodec.length(of, MessageCodec.MOST_TO_DEVICE_BYTES)];
                input.readFully(contents);
                bytes.addAndGet(head.length + contents.length);
                in.add(MessageCodec.read(of.getInt(4), contents));
            }
        } catch (IOException | RuntimeException e) { // of any kind: what came is of no use
            failed(e);
        } finally {
            writer.interrupt();
        }
    }

    private void failed(Exception e) {
        if (failure.isEmpty()) {
            failure = Optional.of(e instanceof java.io.EOFException ? "the server has closed it" : peer.reason(e));
        }
    }

    @Override
    public void send(Message message) {
        out.add(message);
    }

    @Override
    public Optional<Message> receive() {
        return Optional.ofNullable(in.poll());
    }

    @Override
    public Optional<String> failure() {
        return in.isEmpty() ? failure : Optional.empty();
    }

    @Override
    public long bytes() {
        return bytes.get();
    }

    @Override
    public void close() {
        closed = true;
        writer.interrupt();
        try {
            if (socket.isPresent()) {
                socket.get().close();
            }
        } catch (IOException e) {
            failed(e); // nobody looks any more
        }
    }
}
