package dev.millrace.testing.net;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Base64;
import java.util.concurrent.TimeUnit;

/**
 * A key and a certificate that vouches for itself, made out to {@code localhost} and 127.0.0.1, by the JDK's keytool.
 *
 * @param file a PKCS #12 store that has both
 * @param store what is in it
 */
public record TestKeys(Path file, KeyStore store) {
    /** Of the stores and the keys in them. */
    public static final String PASSWORD = "changeit";

    private static final String ALIAS = "own";
    private static final String TYPE = "PKCS12";

    /** @param name of the files that are made in the folder, and of whom they are made out to */
    public static TestKeys make(Path folder, String name) {
        Path file = folder.resolve(name + ".p12");
        try {
            Process keytool = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "keytool")
                                    .toString(),
                            "-genkeypair",
                            "-alias",
                            ALIAS,
                            "-keyalg",
                            "EC",
                            "-dname",
                            "CN=" + name,
                            "-ext",
                            "san=dns:localhost,ip:127.0.0.1",
                            "-validity",
                            "3650",
                            "-storetype",
                            TYPE,
                            "-storepass",
                            PASSWORD,
                            "-keystore",
                            file.toString())
                    .redirectErrorStream(true)
                    .redirectOutput(folder.resolve(name + ".keytool").toFile())
                    .start();
            if (!keytool.waitFor(60, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
                throw new IllegalStateException("keytool makes no key: " + folder.resolve(name + ".keytool"));
            }
            KeyStore store = KeyStore.getInstance(TYPE);
            try (InputStream in = Files.newInputStream(file)) {
                store.load(in, PASSWORD.toCharArray());
            }
            return new TestKeys(file, store);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** A store beside it that has the certificate as one that is trusted. */
    public Path trustStore() {
        Path target = file.resolveSibling(file.getFileName() + ".trusted");
        try (OutputStream out = Files.newOutputStream(target)) {
            KeyStore trusted = KeyStore.getInstance(TYPE);
            trusted.load(null, PASSWORD.toCharArray());
            trusted.setCertificateEntry("trusted", certificate());
            trusted.store(out, PASSWORD.toCharArray());
            return target;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private Certificate certificate() throws GeneralSecurityException {
        return store.getCertificate(ALIAS);
    }

    /** The certificate as PEM. */
    public String certificatePem() {
        try {
            return pem("CERTIFICATE", certificate().getEncoded());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The key as PEM, PKCS #8. */
    public String keyPem() {
        try {
            Key key = store.getKey(ALIAS, PASSWORD.toCharArray());
            return pem("PRIVATE KEY", key.getEncoded());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String pem(String what, byte[] bytes) {
        return "-----BEGIN " + what + "-----\n" + Base64.getMimeEncoder().encodeToString(bytes) + "\n-----END " + what
                + "-----\n";
    }
}
