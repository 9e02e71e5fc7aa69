package dev.millrace.edge.input;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;

/** Asks an address now and then; the lines of each answer are records. An answer that is the same as the one before is none. */
final class HttpInput extends ThreadInput {
    private static final int TIMEOUT_MILLIS = 10_000;

    private final URI address;
    private final long everyMillis;
    private final int mostBytes;
    private byte[] before = {};

    HttpInput(URI address, long everyMillis, int mostBytes) {
        this.address = address;
        this.everyMillis = everyMillis;
        this.mostBytes = mostBytes;
        start("edge-http", this::ask);
    }

    private void ask() throws InterruptedException {
        while (!isClosed()) {
            try {
                byte[] answer = answer();
                if (!java.util.Arrays.equals(answer, before)) {
                    bring(answer);
                    before = answer;
                }
                succeeded();
            } catch (IOException e) {
                failed(e);
            }
            Thread.sleep(everyMillis);
        }
    }

    private byte[] answer() throws IOException {
        HttpURLConnection connection = (HttpURLConnection) address.toURL().openConnection();
        connection.setConnectTimeout(TIMEOUT_MILLIS);
        connection.setReadTimeout(TIMEOUT_MILLIS);
        try {
            int status = connection.getResponseCode();
            if (status != HttpURLConnection.HTTP_OK) {
                throw new IOException(address.getHost() + " answers " + status);
            }
            try (InputStream in = connection.getInputStream()) {
                ByteArrayOutputStream all = new ByteArrayOutputStream();
                byte[] bytes = new byte[READ_BYTES];
                int read;
                while ((read = in.read(bytes)) >= 0) {
                    all.write(bytes, 0, read);
                    if (all.size() > mostBytes) {
                        tooLong(1);
                        throw new IOException(
                                "an answer of " + address.getHost() + " is longer than " + mostBytes + " bytes");
                    }
                }
                return all.toByteArray();
            }
        } finally {
            connection.disconnect();
        }
    }
}
