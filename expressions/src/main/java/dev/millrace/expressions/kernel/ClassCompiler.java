package dev.millrace.expressions.kernel;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.codehaus.commons.compiler.CompileException;
import org.codehaus.janino.ClassLoaderIClassLoader;
import org.codehaus.janino.IClassLoader;
import org.codehaus.janino.Java;
import org.codehaus.janino.Parser;
import org.codehaus.janino.Scanner;
import org.codehaus.janino.UnitCompiler;
import org.codehaus.janino.util.ClassFile;
import org.jspecify.annotations.Nullable;

/**
 * Compiles Java sources (Janino's dialect: no lambdas, no generic inference) to classes, each text once. Safe on any
 * thread.
 *
 * <p>Compiled code sees the public classes of the class path, those of the engine among them. What Janino learnt about those is kept between compilations;
 * that is what makes a small class cost a third of a millisecond. Each class has a loader of its own, so that it is
 * unloaded when it left the cache and its last instance is gone.
 */
public final class ClassCompiler {
    private static final int MOST_CACHED_CLASSES = 4096;
    private static final int LARGE_SOURCE = 100_000; // characters that may not fit a class
    private static final int LARGEST_SOURCE = 400_000; // characters that do not; Janino's time grows with their square
    private static final ClassLoader PARENT = ClassCompiler.class.getClassLoader();

    // Least recently used first.
    @GuardedBy("CACHE") private static final Map<String, Class<?>> CACHE = new LinkedHashMap<>(64, .75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Class<?>> eldest) {
            return size() > MOST_CACHED_CLASSES;
        }
    };

    private static final ReentrantLock COMPILING =
            new ReentrantLock(); // Janino's type descriptions are not thread-safe
    private static final IClassLoader TYPES = new ClassLoaderIClassLoader(PARENT); // used under COMPILING only

    private ClassCompiler() {}

    /**
     * The class of a source.
     *
     * @param className its full name, package included
     * @param source a compilation unit with this one top-level class
     * @param superType what the class extends or implements
     */
    public static <T> Class<? extends T> compile(String className, String source, Class<T> superType) {
        Class<?> known = cached(source);
        if (known == null) {
            Interrupt.lock(COMPILING); // others may be at a large class
            try {
                known = cached(source);
                if (known == null) {
                    known = define(className, source);
                    synchronized (CACHE) {
                        CACHE.put(source, known);
                    }
                }
            } finally {
                COMPILING.unlock();
            }
        }
        return known.asSubclass(superType);
    }

    private static @Nullable Class<?> cached(String source) {
        synchronized (CACHE) {
            return CACHE.get(source);
        }
    }

    private static Class<?> define(String className, String source) {
        if (source.length() > LARGEST_SOURCE) {
            throw tooComplex();
        }
        try {
            Java.AbstractCompilationUnit unit =
                    new Parser(new Scanner(className, new Looks.Source(source))).parseAbstractCompilationUnit();
            Looks.addTo(unit);
            List<ClassFile> files = new ArrayList<>();
            new UnitCompiler(unit, TYPES).compileUnit(false, true, false, files);
            assert files.size() == 1 : "one class per source, not " + files.size();
            return new GeneratedClassLoader().define(className, files.get(0).toByteArray());
        } catch (StackOverflowError e) {
            throw tooComplex();
        } catch (CompileException | IOException | RuntimeException | LinkageError e) {
            Interrupt.checkCurrent(); // it may be why
            if (source.length() > LARGE_SOURCE) {
                throw tooComplex(); // a method beyond the JVM's 64 KB, most likely
            }
            throw MillraceException.internal("generated code does not compile: " + e.getMessage() + "\n" + source, e);
        }
    }

    private static MillraceException tooComplex() {
        return MillraceException.user(
                SqlState.STATEMENT_TOO_COMPLEX, "the expressions are too long to be compiled to one class");
    }

    /** Holds one class. */
    private static final class GeneratedClassLoader extends ClassLoader {
        GeneratedClassLoader() {
            super(PARENT);
        }

        Class<?> define(String name, byte[] bytes) {
            return defineClass(name, bytes, 0, bytes.length);
        }
    }
}
