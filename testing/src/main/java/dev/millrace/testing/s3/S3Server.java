package dev.millrace.testing.s3;

import com.google.common.io.ByteSource;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.gaul.s3proxy.AuthenticationType;
import org.gaul.s3proxy.S3Proxy;
import org.jclouds.ContextBuilder;
import org.jclouds.blobstore.BlobStore;
import org.jclouds.blobstore.BlobStoreContext;
import org.jclouds.blobstore.TransientApiMetadata;
import org.jclouds.blobstore.domain.Blob;
import org.jclouds.blobstore.domain.MultipartUpload;
import org.jclouds.blobstore.domain.StorageMetadata;
import org.jclouds.blobstore.options.ListContainerOptions;

/**
 * A store of objects that speaks S3's protocol and checks signatures (S3Proxy), with what it has in memory. It can go away and come back on its port, with
 * all that it has. Not for several threads, but for its clients.
 */
public final class S3Server implements AutoCloseable {
    /** The one bucket that there is. */
    public static final String BUCKET = "bucket";

    private static final String KEY_ID = "millrace";
    private static final String KEY = "not so secret";

    private final BlobStoreContext context = ContextBuilder.newBuilder(new TransientApiMetadata())
            .credentials(KEY_ID, KEY)
            .build(BlobStoreContext.class);
    private final BlobStore store = context.getBlobStore();
    private S3Proxy server;
    private final int port;

    public S3Server() {
        store.createContainerInLocation(null, BUCKET);
        server = started(0);
        port = server.getPort();
    }

    private S3Proxy started(int at) {
        S3Proxy made = S3Proxy.builder()
                .blobStore(store)
                .endpoint(URI.create("http://127.0.0.1:" + at))
                .awsAuthentication(AuthenticationType.AWS_V4, KEY_ID, KEY)
                .build();
        try {
            made.start();
        } catch (Exception e) {
            throw new IllegalStateException("a server of S3 on port " + at, e);
        }
        return made;
    }

    /** What a source or sink says to reach it, but for the path. */
    public Map<String, String> options() {
        return Map.of(
                "s3.endpoint",
                "http://127.0.0.1:" + port,
                "s3.access_key_id",
                KEY_ID,
                "s3.secret_access_key",
                "${" + KEY + "}");
    }

    /** What stands for the secret in {@link #options}. */
    public static String resolve(String text) {
        return text.replace("${" + KEY + "}", KEY);
    }

    /** The secret. */
    public String secret() {
        return KEY;
    }

    public void put(String key, byte[] bytes) {
        Blob blob = store.blobBuilder(key)
                .payload(ByteSource.wrap(bytes))
                .contentLength(bytes.length)
                .build();
        store.putBlob(BUCKET, blob);
    }

    public byte[] get(String key) {
        try (InputStream in = store.getBlob(BUCKET, key).getPayload().openStream()) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public void remove(String key) {
        store.removeBlob(BUCKET, key);
    }

    /** Keys of objects that are there, sorted. */
    public List<String> keys() {
        List<String> keys = new ArrayList<>();
        for (StorageMetadata each :
                store.list(BUCKET, ListContainerOptions.Builder.recursive().maxResults(100_000))) {
            keys.add(each.getName());
        }
        return keys.stream().filter(key -> !key.endsWith("/")).sorted().toList();
    }

    /** Keys of objects that are being uploaded, and are not there yet. */
    public List<String> uploads() {
        return store.listMultipartUploads(BUCKET).stream()
                .map(MultipartUpload::blobName)
                .sorted()
                .toList();
    }

    /** Answers nobody until {@link #comes}. */
    public void goes() {
        try {
            server.stop();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public void comes() {
        server = started(port);
    }

    @Override
    public void close() {
        goes();
        context.close();
    }
}
