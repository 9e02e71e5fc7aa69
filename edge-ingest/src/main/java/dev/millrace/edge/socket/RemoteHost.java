package dev.millrace.edge.socket;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Optional;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/**
 * A machine that is connected to.
 *
 * @param tls whether the connection is encrypted
 * @param authority who is trusted to have signed its certificate, in PEM; else those whom the JVM trusts
 */
public record RemoteHost(String host, int port, boolean tls, Optional<Path> authority) {
    /** How long it may take to answer. */
    public static final int CONNECT_MILLIS = 10_000;

    /** Connects, some seconds at most; of TLS the handshake is done, and the certificate is the host's. */
    public Socket connect() throws IOException, GeneralSecurityException {
        Socket plain = new Socket();
        try {
            plain.setTcpNoDelay(true);
            plain.connect(new InetSocketAddress(host, port), CONNECT_MILLIS);
            if (!tls) {
                return plain;
            }
            SSLSocket secure = (SSLSocket) Authority.sockets(authority).createSocket(plain, host, port, true);
            SSLParameters parameters = secure.getSSLParameters();
            parameters.setEndpointIdentificationAlgorithm("HTTPS");
            secure.setSSLParameters(parameters);
            secure.setSoTimeout(CONNECT_MILLIS);
            secure.startHandshake();
            secure.setSoTimeout(0);
            return secure;
        } catch (IOException | GeneralSecurityException | RuntimeException e) {
            plain.close();
            throw e;
        }
    }

    /** Why it cannot be spoken to, in one line. */
    public String reason(Exception e) {
        String said = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
        return e instanceof SSLException ? "no encrypted connection to " + host + ": " + said : said;
    }
}
