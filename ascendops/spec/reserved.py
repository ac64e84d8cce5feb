"""Names that an operator cannot have, because C++, the C library or the Ascend C compiler has them."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Keywords of C++17.
CPP_KEYWORDS = _words(
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class compl "
    "const const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit export "
    "extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr "
    "operator or or_eq private protected public register reinterpret_cast return short signed sizeof static "
    "static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename "
    "union unsigned using virtual void volatile wchar_t while xor xor_eq"
)

# Functions that <cmath>, <cstdlib>, <cstring>, <cstdio>, <unistd.h> and their like declare: an entry of that name clashes.
C_LIBRARY_NAMES = _words(
    "a64l abort abs accept accept4 access acct acos acosh alarm alloca arc4random asctime asin asinh asprintf atan "
    "atan2 atanh atexit atof atoi atol basename bcmp bcopy bind brk bsearch btowc bzero calloc canonicalize cbrt "
    "ceil ceilf chdir chmod chown chroot clearenv clearerr clock clone close closefrom confstr connect copysign cos "
    "cosf cosh creat crypt ctermid ctime cuserid daddl daemon ddivl dfmal difftime div dladdr dladdr1 dlclose "
    "dlerror dlinfo dlmopen dlopen dlsym dlvsym dmull dprintf drand48 drem dsqrtl dsubl dup dup2 dup3 dysize "
    "eaccess ecvt endusershell erand48 erf erfc euidaccess execl execle execlp execv execve execveat execvp execvpe "
    "exit exp exp10 exp2 expf expm1 fabs fabsf faccessat fadd fallocate fchdir fchmod fchmodat fchown fchownat "
    "fclose fcloseall fcntl fcvt fdatasync fdim fdiv fdopen feof ferror fexecve fflush ffma ffs fgetc fgetpos fgets "
    "fgetwc fgetws fileno finite flockfile floor floorf fma fmax fmaximum fmaxmag fmemopen fmin fminimum fminmag "
    "fmod fmul fopen fopencookie fork fpathconf fprintf fputc fputs fputwc fputws fread free freopen frexp fromfp "
    "fromfpx fscanf fseek fseeko fsetpos fsqrt fstat fstatat fsub fsync ftell ftello ftruncate ftrylockfile "
    "funlockfile futimens fwide fwprintf fwrite fwscanf gamma gcvt getc getchar getcpu getcwd getdate getdelim "
    "getdomainname getdtablesize getegid getentropy getenv geteuid getgid getgroups gethostid gethostname getline "
    "getloadavg getlogin getopt getpagesize getpass getpayload getpeername getpgid getpgrp getpid getppid getpt "
    "getresgid getresuid getsid getsockname getsockopt getsubopt gettid getuid getumask getusershell getw getwc "
    "getwchar getwd gmtime grantpt gsignal hcreate hdestroy hsearch hypot ilogb index initstate insque isalnum "
    "isalpha isascii isatty isblank iscntrl isctype isdigit isfdtype isgraph isinf islower isnan isprint ispunct "
    "isspace isupper isxdigit j0 j1 jn jrand48 kill killpg l64a labs lchmod lchown lcong48 ldexp ldiv lfind lgamma "
    "link linkat listen llabs lldiv llogb llrint llround localtime lockf log log10 log1p log2 logb logf longjmp "
    "lrand48 lrint lround lsearch lseek lstat main malloc mblen mbrlen mbrtowc mbsinit mbsnrtowcs mbsrtowcs "
    "mbstowcs mbtowc memccpy memchr memcmp memcpy memfrob memmem memmove mempcpy memrchr memset mkdir mkdirat "
    "mkdtemp mkfifo mkfifoat mknod mknodat mkostemp mkostemps mkstemp mkstemps mktemp mktime modf mrand48 nan "
    "nanosleep nearbyint nextafter nextdown nexttoward nextup nice nrand48 open openat pathconf pause pclose perror "
    "pipe pipe2 poll popen pow pow10 powf ppoll pread printf profil pselect psiginfo psignal ptsname putc putchar "
    "putenv puts putw putwc putwchar pwrite qecvt qfcvt qgcvt qsort raise rand random rawmemchr read readahead "
    "readlink readlinkat realloc reallocarray realpath recv recvfrom recvmmsg recvmsg remainder remove remque "
    "remquo rename renameat renameat2 revoke rewind rindex rint rmdir round roundeven roundf rpmatch sbrk scalb "
    "scalbln scalbn scanf seed48 select send sendmmsg sendmsg sendto setbuf setbuffer setdomainname setegid setenv "
    "seteuid setgid sethostid sethostname setjmp setlinebuf setlogin setns setpayload setpayloadsig setpgid setpgrp "
    "setregid setresgid setresuid setreuid setsid setsockopt setstate setuid setusershell setvbuf shutdown "
    "sigaction sigaddset sigaltstack sigandset sigblock sigdelset sigemptyset sigfillset siggetmask sighold "
    "sigignore siginterrupt sigisemptyset sigismember siglongjmp signal significand sigorset sigpause sigpending "
    "sigprocmask sigqueue sigrelse sigreturn sigset sigsetmask sigstack sigsuspend sigtimedwait sigwait sigwaitinfo "
    "sin sincos sinf sinh sleep snprintf sockatmark socket socketpair splice sprintf sqrt sqrtf srand srand48 "
    "srandom sscanf ssignal stat statx stpcpy stpncpy strcasecmp strcasestr strcat strchr strchrnul strcmp strcoll "
    "strcpy strcspn strdup strerror strfromd strfromf strfroml strfry strftime strlen strncasecmp strncat strncmp "
    "strncpy strndup strnlen strpbrk strptime strrchr strsep strsignal strspn strstr strtod strtof strtok strtol "
    "strtold strtoq strtoul strtouq strverscmp strxfrm swab swprintf swscanf symlink symlinkat sync syncfs syscall "
    "sysconf system tan tanh tanhf tcgetpgrp tcsetpgrp tdelete tdestroy tee tempnam tfind tgamma tgkill time timegm "
    "timelocal times tmpfile tmpnam toascii tolower totalorder totalordermag toupper trunc truncate tsearch ttyname "
    "ttyslot twalk tzset ualarm ufromfp ufromfpx umask uname ungetc ungetwc unlink unlinkat unlockpt unsetenv "
    "unshare usleep utimensat valloc vasprintf vdprintf vfork vfprintf vfscanf vfwprintf vfwscanf vhangup vmsplice "
    "vprintf vscanf vsnprintf vsprintf vsscanf vswprintf vswscanf vwprintf vwscanf wait wait3 wait4 waitid waitpid "
    "wcpcpy wcpncpy wcrtomb wcscasecmp wcscat wcschr wcschrnul wcscmp wcscoll wcscpy wcscspn wcsdup wcsftime wcslen "
    "wcsncasecmp wcsncat wcsncmp wcsncpy wcsnlen wcsnrtombs wcspbrk wcsrchr wcsrtombs wcsspn wcsstr wcstod wcstof "
    "wcstok wcstol wcstold wcstombs wcstoq wcstoul wcstouq wcswcs wcswidth wcsxfrm wctob wctomb wcwidth wmemchr "
    "wmemcmp wmemcpy wmemmove wmempcpy wmemset wprintf write wscanf y0 y1 yn"
)

# Builtins of the Ascend C compiler, types and macros of its headers.
ASCENDC = _words(
    "assert atomic_add bfloat16_t block_idx block_num cce copy_cbuf_to_gm copy_gm_to_cbuf copy_gm_to_ubuf "
    "copy_ubuf_to_gm copy_ubuf_to_ubuf dcci ffts get_arch_ver get_block_idx get_block_num get_coreid "
    "get_subblockdim get_subblockid half icache_preload mad max min pipe_barrier set_atomic_add set_flag "
    "set_mask_count set_mask_norm set_vector_mask tiling trap vabs vadd vadds vand vaxpy vbrcb vcadd vcmax vcmin "
    "vcmp vconv vcpadd vdiv vector_dup vexp vgather vln vmax vmin vmul vmuls vnot vor vrec vreducev vrelu vrsqrt "
    "vscatter vsel vshl vshr vsqrt vsub vtranspose wait_flag workspace"
)

# Namespaces that operator sources use.
NAMESPACES = frozenset({"ascendc_twin", "ascendops", "at", "c10", "ge", "gert", "matmul", "matmul_tiling", "ops", "optiling", "std", "torch"})
# Parameters that every kernel has.
PARAMETERS = frozenset({"workspace", "tiling"})
