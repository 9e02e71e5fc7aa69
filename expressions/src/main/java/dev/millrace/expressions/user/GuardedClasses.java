package dev.millrace.expressions.user;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.HashSet;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Loads the classes of a jar with guards in them: methods, and jumps backwards, look whether the call is to end; ways to end
 * the process are refused. It keeps mistakes from holding a thread or the server, not a villain: reflection reaches what it
 * likes, and a loop within the JDK is not seen.
 */
final class GuardedClasses extends URLClassLoader {
    private static final String GUARD = UserGuard.class.getName().replace('.', '/');
    private static final Set<String> EXITS = Set.of("exit", "halt");

    GuardedClasses(URL jar, ClassLoader parent) {
        super(new URL[] {jar}, parent);
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] guarded = guarded(in.readAllBytes());
            return defineClass(name, guarded, 0, guarded.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    /** Calls without arguments and results change nothing that frames and sizes of stacks say. */
    static byte[] guarded(byte[] type) {
        ClassReader reader = new ClassReader(type);
        ClassWriter writer = new ClassWriter(reader, 0);
        reader.accept(
                new ClassVisitor(Opcodes.ASM9, writer) {
                    @Override
                    public MethodVisitor visitMethod(
                            int access, String name, String descriptor, String signature, String[] exceptions) {
                        return new Guard(super.visitMethod(access, name, descriptor, signature, exceptions));
                    }
                },
                0);
        return writer.toByteArray();
    }

    private static final class Guard extends MethodVisitor {
        private final Set<Label> passed = new HashSet<>();

        Guard(MethodVisitor next) {
            super(Opcodes.ASM9, next);
        }

        private void check() {
            super.visitMethodInsn(Opcodes.INVOKESTATIC, GUARD, "check", "()V", false);
        }

        @Override
        public void visitCode() {
            super.visitCode();
            check();
        }

        @Override
        public void visitLabel(Label label) {
            passed.add(label);
            super.visitLabel(label);
        }

        @Override
        public void visitJumpInsn(int opcode, Label label) {
            if (passed.contains(label)) {
                check();
            }
            super.visitJumpInsn(opcode, label);
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
            if (owner.equals("java/lang/System") && name.equals("exit")) {
                super.visitMethodInsn(Opcodes.INVOKESTATIC, GUARD, "exit", "(I)V", false);
            } else if (owner.equals("java/lang/Runtime") && EXITS.contains(name)) {
                super.visitMethodInsn(Opcodes.INVOKESTATIC, GUARD, "exit", "(Ljava/lang/Runtime;I)V", false);
            } else {
                super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
            }
        }

        @Override
        public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
            Object[] guarded = arguments.clone();
            for (int i = 0; i < guarded.length; i++) {
                if (guarded[i] instanceof Handle handle
                        && handle.getOwner().equals("java/lang/System")
                        && handle.getName().equals("exit")) { // System::exit
                    guarded[i] = new Handle(Opcodes.H_INVOKESTATIC, GUARD, "exit", "(I)V", false);
                }
            }
            super.visitInvokeDynamicInsn(name, descriptor, bootstrap, guarded);
        }
    }
}
