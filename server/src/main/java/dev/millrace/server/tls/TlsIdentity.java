package dev.millrace.server.tls;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.Date;
import java.util.List;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.openssl.PEMKeyPair;
import org.bouncycastle.openssl.PEMParser;
import org.bouncycastle.openssl.jcajce.JcaPEMKeyConverter;
import org.bouncycastle.util.io.pem.PemObject;
import org.bouncycastle.util.io.pem.PemWriter;
import org.jspecify.annotations.Nullable;

/**
 * A private key and the certificates that vouch for it.
 *
 * @param chain the server's own first
 */
record TlsIdentity(PrivateKey key, List<X509Certificate> chain) {
    private static final String CERTIFICATE = "server.crt";
    private static final String KEY = "server.key";

    static TlsIdentity of(TlsOptions options, List<String> names) {
        if (options.certificate().isPresent() != options.key().isPresent()) {
            throw MillraceException.user(
                    SqlState.CONFIG_FILE_ERROR,
                    "a TLS certificate and its key are given together, but only the "
                            + (options.key().isPresent() ? "key" : "certificate") + " is");
        }
        if (options.certificate().isPresent()) {
            return read(options.certificate().get(), options.key().orElseThrow());
        }
        if (options.directory().isEmpty()) {
            return SelfSigned.create(names);
        }
        Path certificate = options.directory().get().resolve(CERTIFICATE);
        Path key = options.directory().get().resolve(KEY);
        if (Files.exists(certificate) && Files.exists(key)) {
            TlsIdentity kept = read(certificate, key);
            if (kept.chain.get(0).getNotAfter().after(new Date())) {
                return kept;
            }
        }
        return create(certificate, key, names);
    }

    /** What is kept in a directory, of both files; nothing is made. */
    static TlsIdentity kept(Path directory) {
        return read(directory.resolve(CERTIFICATE), directory.resolve(KEY));
    }

    private static TlsIdentity create(Path certificate, Path key, List<String> names) {
        TlsIdentity made = SelfSigned.create(names);
        try {
            write(key, pem("PRIVATE KEY", made.key.getEncoded()), "rw-------");
            write(certificate, pem("CERTIFICATE", made.chain.get(0).getEncoded()), "rw-r--r--");
        } catch (IOException | CertificateException e) {
            throw MillraceException.external(
                    SqlState.IO_ERROR, "cannot keep the TLS certificate in " + certificate + ": " + e.getMessage(), e);
        }
        return made;
    }

    private static String pem(String type, byte[] encoded) throws IOException {
        StringWriter text = new StringWriter();
        try (PemWriter writer = new PemWriter(text)) {
            writer.writeObject(new PemObject(type, encoded));
        }
        return text.toString();
    }

    /** Nobody else can read a key at any moment, and no half of it is ever there under its name. */
    private static void write(Path file, String text, String permissions) throws IOException {
        Path unfinished = file.resolveSibling(file.getFileName() + ".new");
        Files.deleteIfExists(unfinished);
        if (file.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            Files.createFile(
                    unfinished, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions)));
        } else {
            Files.createFile(unfinished);
        }
        Files.writeString(unfinished, text, StandardOpenOption.SYNC, StandardOpenOption.WRITE);
        Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private static TlsIdentity read(Path certificate, Path key) {
        List<X509Certificate> chain = certificates(certificate);
        PrivateKey privateKey = key(key);
        if (!SelfSigned.fit(privateKey, chain.get(0).getPublicKey())) {
            throw unusable(key, "it is not the key of the certificate in " + certificate);
        }
        return new TlsIdentity(privateKey, chain);
    }

    private static List<X509Certificate> certificates(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            Collection<? extends Certificate> read =
                    CertificateFactory.getInstance("X.509").generateCertificates(in);
            if (read.isEmpty()) {
                throw unusable(file, "there is no certificate in it");
            }
            return read.stream().map(X509Certificate.class::cast).toList();
        } catch (NoSuchFileException e) {
            throw unusable(file, "there is no such file");
        } catch (IOException | CertificateException e) {
            throw unusable(file, e.getMessage());
        }
    }

    private static PrivateKey key(Path file) {
        try (Reader in = Files.newBufferedReader(file, StandardCharsets.US_ASCII);
                PEMParser pem = new PEMParser(in)) {
            JcaPEMKeyConverter keys = new JcaPEMKeyConverter();
            for (Object next = pem.readObject(); next != null; next = pem.readObject()) {
                if (next instanceof PEMKeyPair pair) {
                    return keys.getPrivateKey(pair.getPrivateKeyInfo());
                } else if (next instanceof PrivateKeyInfo info) {
                    return keys.getPrivateKey(info);
                }
            }
            throw unusable(file, "there is no private key in it that is not encrypted");
        } catch (NoSuchFileException e) {
            throw unusable(file, "there is no such file");
        } catch (IOException e) {
            throw unusable(file, e.getMessage());
        }
    }

    private static MillraceException unusable(Path file, @Nullable String why) {
        return MillraceException.user(SqlState.CONFIG_FILE_ERROR, "cannot use " + file + " for TLS: " + why);
    }

    /** The JDK's certificate of one that BouncyCastle made. */
    static X509Certificate certificate(byte[] encoded) throws GeneralSecurityException {
        return (X509Certificate)
                CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(encoded));
    }
}
