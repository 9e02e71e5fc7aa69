package dev.millrace.connectors.s3;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.MultipartUpload;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * A store of objects. Every call waits for the network: some seconds for a store that is away, a minute for one that does not answer. Failures that may pass have the outside's fault. Safe
 * on any thread.
 */
public final class ObjectStore implements AutoCloseable {
    private static final Duration CONNECTING = Duration.ofSeconds(5);
    private static final Duration SILENCE = Duration.ofSeconds(30);
    private static final int CHUNK_BYTES = 64 << 10;

    private final String where;
    private final S3Client client;

    public ObjectStore(StoreOptions options) {
        this.where = options.where();
        var builder = S3Client.builder()
                .region(Region.of(options.region()))
                .forcePathStyle(options.pathStyle())
                .credentialsProvider(options.credentials())
                // Sums that not every store knows, of what is summed up by TLS and by multipart tags anyway.
                .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
                .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
                .httpClientBuilder(UrlConnectionHttpClient.builder()
                        .connectionTimeout(CONNECTING)
                        .socketTimeout(SILENCE));
        options.endpoint().ifPresent(builder::endpointOverride);
        this.client = builder.build();
    }

    private <T> T call(ObjectName name, Supplier<T> request) {
        try {
            return request.get();
        } catch (SdkException e) {
            throw StoreFailure.of(where, name, e);
        }
    }

    /** Gives all objects whose keys begin with this one's, in the order of their keys. */
    public void list(ObjectName prefix, Consumer<StoredObject> each) {
        call(prefix, () -> {
            for (S3Object object : client.listObjectsV2Paginator(
                            request -> request.bucket(prefix.bucket()).prefix(prefix.key()))
                    .contents()) {
                each.accept(new StoredObject(
                        new ObjectName(prefix.bucket(), object.key()),
                        object.eTag(),
                        object.size(),
                        object.lastModified().toEpochMilli()));
            }
            return true;
        });
    }

    /** Looks whether the bucket can be listed. */
    public void check(ObjectName prefix) {
        call(
                prefix,
                () -> client.listObjectsV2(request ->
                        request.bucket(prefix.bucket()).prefix(prefix.key()).maxKeys(1)));
    }

    /**
     * Adds to a file what it lacks of an object's first so many bytes.
     *
     * @throws dev.millrace.error.MillraceException 55000 if the object is another by now, 58P01 if it is gone; what was written stays
     */
    public void fetch(StoredObject object, long upTo, Path to) throws IOException {
        ObjectName name = object.name();
        long there = Files.exists(to) ? Files.size(to) : 0;
        if (there >= upTo) {
            if (!Files.exists(to)) {
                Files.createFile(to);
            }
            return;
        }
        try (InputStream in = call(
                        name,
                        () -> client.getObject(request -> request.bucket(name.bucket())
                                .key(name.key())
                                .ifMatch(object.tag())
                                .range("bytes=" + there + "-" + (upTo - 1))));
                OutputStream out = Files.newOutputStream(to, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            byte[] chunk = new byte[CHUNK_BYTES];
            for (int read = in.read(chunk); read >= 0; read = in.read(chunk)) {
                out.write(chunk, 0, read);
                if (Thread.currentThread().isInterrupted()) {
                    throw new InterruptedIOException();
                }
            }
        }
    }

    /** The text that an object has under a name of its metadata, empty text where it has none; empty if there is no such object. */
    public Optional<String> metadata(ObjectName name, String key) {
        try {
            return Optional.of(
                    client.headObject(request -> request.bucket(name.bucket()).key(name.key()))
                            .metadata()
                            .getOrDefault(key, ""));
        } catch (SdkException e) {
            if (StoreFailure.isNoSuchObject(e)) {
                return Optional.empty();
            }
            throw StoreFailure.of(where, name, e);
        }
    }

    /** Begins an upload; nobody sees the object before {@link #complete}. */
    public String begin(ObjectName name, Map<String, String> metadata) {
        return call(
                name,
                () -> client.createMultipartUpload(request ->
                                request.bucket(name.bucket()).key(name.key()).metadata(metadata))
                        .uploadId());
    }

    /**
     * Uploads a part of a file.
     *
     * @param part from 1
     * @return its tag
     */
    public String part(ObjectName name, String upload, int part, Path file, long from, int bytes) {
        return call(
                name,
                () -> client.uploadPart(
                                request -> request.bucket(name.bucket())
                                        .key(name.key())
                                        .uploadId(upload)
                                        .partNumber(part),
                                RequestBody.fromContentProvider(
                                        () -> stretch(file, from, bytes), bytes, "application/octet-stream"))
                        .eTag());
    }

    private static InputStream stretch(Path file, long from, int bytes) {
        try {
            return new FileStretch(file, from, bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What became of an upload that was to be completed. */
    public enum Completion {
        /** The object is shown. */
        SHOWN,
        /** The store does not know the upload: it was completed or aborted before. */
        UNKNOWN,
        /** The store knows the upload, and not all of its parts: it gave them up, or was stopped while it completed it. */
        PARTS_LOST
    }

    /**
     * Shows an object in one step.
     *
     * @param parts the tags of all parts, in their order
     */
    public Completion complete(ObjectName name, String upload, List<String> parts) {
        List<CompletedPart> all = new ArrayList<>();
        for (String tag : parts) {
            all.add(CompletedPart.builder().partNumber(all.size() + 1).eTag(tag).build());
        }
        try {
            client.completeMultipartUpload(request -> request.bucket(name.bucket())
                    .key(name.key())
                    .uploadId(upload)
                    .multipartUpload(made -> made.parts(all)));
            return Completion.SHOWN;
        } catch (SdkException e) {
            if (StoreFailure.isNoSuchObject(e)) {
                return Completion.UNKNOWN;
            }
            if (StoreFailure.isPartsLost(e)) {
                return Completion.PARTS_LOST;
            }
            throw StoreFailure.of(where, name, e);
        }
    }

    /** Uploads that are under way of keys that begin with this one's. */
    public Map<String, ObjectName> uploads(ObjectName prefix) {
        return call(prefix, () -> {
            Map<String, ObjectName> all = new LinkedHashMap<>();
            for (MultipartUpload upload : client.listMultipartUploadsPaginator(
                            request -> request.bucket(prefix.bucket()).prefix(prefix.key()))
                    .uploads()) {
                all.put(upload.uploadId(), new ObjectName(prefix.bucket(), upload.key()));
            }
            return all;
        });
    }

    /** Gives an upload up; of no effect if there is none. */
    public void abort(ObjectName name, String upload) {
        try {
            client.abortMultipartUpload(
                    request -> request.bucket(name.bucket()).key(name.key()).uploadId(upload));
        } catch (SdkException e) {
            if (!StoreFailure.isNoSuchObject(e)) {
                throw StoreFailure.of(where, name, e);
            }
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
