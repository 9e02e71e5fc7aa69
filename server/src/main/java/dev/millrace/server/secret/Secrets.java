package dev.millrace.server.secret;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.secret.SecretReferences.Reference;
import dev.millrace.server.storage.DataDirectory;
import dev.millrace.server.storage.KnownLog;
import dev.millrace.server.storage.SecretsFile;
import dev.millrace.server.storage.SecretsFile.Contents;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** The secrets of a database, by name; on disk before a change is seen. Safe on any thread. */
public final class Secrets {
    private final Optional<DataDirectory> directory;

    @GuardedBy("this") private final TreeMap<String, String> texts = new TreeMap<>();

    @GuardedBy("this") private KnownLog file; // which is there, if it was written

    @GuardedBy("this") private boolean isUncertain; // another one may be there: writing it failed when it had been written

    /**
     * @param directory where they are kept; none for a database that keeps nothing
     * @param identity of the database, should there be no file yet
     * @throws dev.millrace.error.MillraceException XX001 if what is kept is damaged; 53100 or 58030
     */
    public Secrets(Optional<DataDirectory> directory, long identity) {
        this.directory = directory;
        Optional<Contents> kept = directory.map(DataDirectory::secrets);
        kept.ifPresent(contents -> texts.putAll(contents.texts()));
        Optional<KnownLog> known = directory.flatMap(of -> of.known(SecretsFile.NAME));
        this.file = kept.flatMap(Contents::known).or(() -> known).orElseGet(() -> new KnownLog(identity, 0));
        boolean isToBeWritten =
                kept.filter(contents -> contents.known().isEmpty()).isPresent();
        if (isToBeWritten && (known.isPresent() || !texts.isEmpty())) { // an earlier version's, or given up
            keep(texts);
        }
    }

    /** What definitions are to know of the file; none where there is none. */
    public synchronized Optional<KnownLog> known() {
        return directory.isPresent() && file.last() > 0 ? Optional.of(file) : Optional.empty();
    }

    /** All names, sorted. */
    public synchronized Set<String> names() {
        return new TreeMap<>(texts).keySet();
    }

    /** For whoever is to have it, and for nobody else. */
    public synchronized Optional<String> text(String name) {
        return Optional.ofNullable(texts.get(name));
    }

    /** The names of the objects that refer to a secret, sorted. */
    public List<String> users(String name, DatabaseCatalog catalog) {
        Reference reference = new Reference(SecretReferences.Kind.SECRET, name);
        return catalog.objects().stream()
                .filter(object -> object.options().values().stream()
                        .anyMatch(value -> SecretReferences.in(value).contains(reference)))
                .map(CatalogObject::name)
                .toList();
    }

    /**
     * Keeps a secret, in the place of one of its name.
     *
     * @throws dev.millrace.error.MillraceException 53100 or 58030; then all is as it was
     */
    public synchronized void put(String name, String text) {
        Map<String, String> after = new TreeMap<>(texts);
        after.put(name, text);
        keep(after);
        texts.put(name, text);
    }

    /** Forgets a secret; throws what {@link #put} throws. */
    public synchronized void remove(String name) {
        Map<String, String> after = new TreeMap<>(texts);
        after.remove(name);
        keep(after);
        texts.remove(name);
    }

    /**
     * Before somebody is told that a secret is not there: has that on disk, where a change that failed may have left another file. Throws what {@link #put}
     * throws.
     */
    public synchronized void settle() {
        if (isUncertain) {
            keep(texts);
        }
    }

    @GuardedBy("this") private void keep(Map<String, String> after) {
        KnownLog next = new KnownLog(file.identity(), file.last() + 1);
        isUncertain = true;
        directory.ifPresent(to -> to.keepSecrets(next, after));
        isUncertain = false;
        file = next;
    }
}
