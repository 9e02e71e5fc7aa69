package dev.millrace.edge.input;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Lines of all that connect; they are made to wait by not being read from. */
final class TcpInput extends ThreadInput {
    private final ServerSocket server;
    private final int mostBytes;
    private final int mostPeers;
    private final Set<Socket> peers = ConcurrentHashMap.newKeySet();

    TcpInput(String host, int port, int mostBytes, int mostPeers) {
        this.mostBytes = mostBytes;
        this.mostPeers = mostPeers;
        try {
            server = new ServerSocket();
            server.setReuseAddress(true);
            server.bind(new InetSocketAddress(InetAddress.getByName(host), port));
        } catch (IOException e) {
            throw MillraceException.external(
                    SqlState.CONNECTION_FAILURE, "cannot listen at " + host + ":" + port + ": " + e.getMessage(), e);
        }
        start("edge-tcp-" + server.getLocalPort(), this::accept);
    }

    int port() {
        return server.getLocalPort();
    }

    private void accept() throws IOException {
        while (!isClosed()) {
            Socket socket = server.accept();
            if (peers.size() >= mostPeers) {
                socket.close();
                failed(new IOException("a peer was refused: there are " + mostPeers));
                continue;
            }
            peers.add(socket);
            thread("edge-tcp-peer-" + socket.getPort(), () -> read(socket)).start();
        }
    }

    private void read(Socket socket) throws IOException, InterruptedException {
        LineChunks cut = new LineChunks(mostBytes);
        try (Socket open = socket;
                InputStream in = open.getInputStream()) {
            byte[] bytes = new byte[READ_BYTES];
            int read;
            while ((read = in.read(bytes)) >= 0) {
                bring(cut.whole(bytes, read));
            }
            bring(cut.rest());
        } finally {
            tooLong(cut.tooLong());
            peers.remove(socket);
        }
    }

    @Override
    public void close() {
        super.close();
        try {
            server.close();
            for (Socket peer : peers) {
                peer.close();
            }
        } catch (IOException e) {
            failed(e); // nobody looks any more
        }
    }
}
