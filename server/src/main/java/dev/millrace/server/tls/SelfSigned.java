package dev.millrace.server.tls;

import java.io.IOException;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x500.X500NameBuilder;
import org.bouncycastle.asn1.x500.style.BCStyle;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/** Certificates that vouch for themselves: good for encryption, and for verification by those who were given a copy. */
final class SelfSigned {
    private static final Duration VALID = Duration.ofDays(3650);
    private static final int SERIAL_BITS = 159; // at most 20 bytes, positive (RFC 5280, section 4.1.2.2)
    private static final int LONGEST_COMMON_NAME = 64;

    private SelfSigned() {}

    /** On the curve P-256, made out to this machine and these names and addresses. */
    static TlsIdentity create(List<String> names) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            KeyPair keys = generator.generateKeyPair();
            Set<String> all = new LinkedHashSet<>(names);
            all.addAll(List.of("localhost", "127.0.0.1", "::1"));
            String common = all.iterator().next();
            X500Name subject = new X500NameBuilder()
                    .addRDN(BCStyle.CN, common.substring(0, Math.min(LONGEST_COMMON_NAME, common.length())))
                    .build();
            Instant now = Instant.now();
            X509v3CertificateBuilder certificate = new JcaX509v3CertificateBuilder(
                            subject,
                            new BigInteger(SERIAL_BITS, new SecureRandom()).setBit(0),
                            Date.from(now.minus(Duration.ofDays(1))), // for clients whose clocks are behind
                            Date.from(now.plus(VALID)),
                            subject,
                            keys.getPublic())
                    .addExtension(Extension.basicConstraints, true, new BasicConstraints(false))
                    .addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.digitalSignature))
                    .addExtension(
                            Extension.extendedKeyUsage, false, new ExtendedKeyUsage(KeyPurposeId.id_kp_serverAuth))
                    .addExtension(
                            Extension.subjectAlternativeName,
                            false,
                            new GeneralNames(all.stream().map(SelfSigned::name).toArray(GeneralName[]::new)));
            byte[] encoded = certificate
                    .build(new JcaContentSignerBuilder("SHA256withECDSA").build(keys.getPrivate()))
                    .getEncoded();
            return new TlsIdentity(keys.getPrivate(), List.of(TlsIdentity.certificate(encoded)));
        } catch (GeneralSecurityException | OperatorCreationException | IOException e) {
            throw new IllegalStateException("every JDK signs on P-256", e);
        }
    }

    private static GeneralName name(String name) {
        boolean address = name.indexOf(':') >= 0 || name.matches("[0-9.]+");
        return new GeneralName(address ? GeneralName.iPAddress : GeneralName.dNSName, name);
    }

    /** Whether what one signs the other verifies. */
    static boolean fit(PrivateKey key, PublicKey certified) {
        if (!key.getAlgorithm().equals(certified.getAlgorithm())
                && !(key.getAlgorithm().startsWith("EC")
                        && certified.getAlgorithm().startsWith("EC"))) {
            return false;
        }
        String algorithm = switch (certified.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EC", "ECDSA" -> "SHA256withECDSA";
            default -> certified.getAlgorithm(); // Ed25519 and Ed448 are named like their keys
        };
        try {
            byte[] text = {1, 2, 3};
            Signature signature = Signature.getInstance(algorithm);
            signature.initSign(key);
            signature.update(text);
            byte[] signed = signature.sign();
            signature.initVerify(certified);
            signature.update(text);
            return signature.verify(signed);
        } catch (GeneralSecurityException e) {
            return false; // a key of another kind, a signature of another length
        }
    }
}
