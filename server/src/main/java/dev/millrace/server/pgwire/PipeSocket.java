package dev.millrace.server.pgwire;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.util.Optional;

/**
 * The client's end of a connection that does not leave this program, in the form that clients written in Java take. What
 * sockets have and pipes do not, such as buffer sizes, is taken and not heeded. Reading and writing are for one thread each;
 * {@link #close} for any.
 */
final class PipeSocket extends Socket {
    private final PipeChannel channel;
    private final In in = new In();
    private final OutputStream out = new Out();
    private volatile int timeoutMillis; // written by whoever sets it, read by the reader
    private volatile boolean closed; // written by whoever closes, read by any

    PipeSocket(PipeChannel channel) {
        this.channel = channel;
    }

    private final class In extends InputStream {
        @GuardedBy("this") private ByteBuf current = Unpooled.EMPTY_BUFFER; // not empty only while some of it is to be read

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            if (length == 0) {
                return 0;
            }
            while (available() == 0) {
                Optional<ByteBuf> next = channel.receive(timeoutMillis);
                if (next.isEmpty()) {
                    return -1;
                }
                hold(next.get());
            }
            return take(bytes, offset, length);
        }

        private synchronized void hold(ByteBuf next) throws IOException {
            current = next;
            if (closed) {
                drop();
                throw new SocketException("the connection was closed while it was read");
            }
        }

        private synchronized int take(byte[] bytes, int offset, int length) {
            int count = Math.min(length, current.readableBytes());
            current.readBytes(bytes, offset, count);
            if (!current.isReadable()) {
                drop();
            }
            return count == 0 ? -1 : count; // it was closed meanwhile
        }

        private synchronized void drop() {
            current.release();
            current = Unpooled.EMPTY_BUFFER;
        }

        @Override
        public synchronized int available() {
            return current.readableBytes();
        }

        @Override
        public void close() {
            PipeSocket.this.close();
        }
    }

    private final class Out extends OutputStream {
        @Override
        public void write(int oneByte) throws IOException {
            write(new byte[] {(byte) oneByte}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            if (length > 0) {
                channel.send(channel.clientAllocator().buffer(length).writeBytes(bytes, offset, length));
            }
        }

        @Override
        public void close() {
            PipeSocket.this.close();
        }
    }

    @Override
    public void connect(SocketAddress address, int timeout) {
        // it is
    }

    @Override
    public void connect(SocketAddress address) {
        // it is
    }

    @Override
    public InputStream getInputStream() {
        return in;
    }

    @Override
    public OutputStream getOutputStream() {
        return out;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            channel.hangUp();
            in.drop();
        }
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public boolean isConnected() {
        return true;
    }

    @Override
    public InetAddress getInetAddress() {
        return InetAddress.getLoopbackAddress();
    }

    @Override
    public SocketAddress getRemoteSocketAddress() {
        return channel.remoteAddress();
    }

    @Override
    public SocketAddress getLocalSocketAddress() {
        return channel.localAddress();
    }

    @Override
    public void setSoTimeout(int timeout) {
        timeoutMillis = timeout;
    }

    @Override
    public int getSoTimeout() {
        return timeoutMillis;
    }

    @Override
    public void setTcpNoDelay(boolean on) {
        // there is no TCP
    }

    @Override
    public void setKeepAlive(boolean on) {
        // nothing in between forgets a pipe
    }

    @Override
    public void setSendBufferSize(int size) {
        // a pipe's bound is its own
    }

    @Override
    public int getSendBufferSize() {
        return PgServer.RECEIVED_BYTES;
    }

    @Override
    public void setReceiveBufferSize(int size) {
        // a pipe's bound is its own
    }

    @Override
    public int getReceiveBufferSize() {
        return PgServer.RECEIVED_BYTES;
    }

    @Override
    public void shutdownOutput() {
        close();
    }

    @Override
    public void shutdownInput() {
        close();
    }

    @Override
    public String toString() {
        return "in-process connection" + (closed ? ", closed" : "");
    }
}
