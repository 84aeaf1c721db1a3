/* The Python module `binding` of puffer_nain_jaune.h, by PufferLib's own env_binding.h. */
#include <Python.h>

#include "puffer_nain_jaune.h"

#define Env NainJaune
#include "env_binding.h"

static int my_init(Env *env, PyObject *args, PyObject *kwargs)
{
    int64_t knobs[NAIN_JAUNE_KNOBS];
    char name[16];
    (void)args;
    for (int k = 0; k < NAIN_JAUNE_KNOBS; k++) {
        snprintf(name, sizeof name, "knob_%d", k);
        knobs[k] = (int64_t)unpack(kwargs, name);
    }
    env->opponent = (int)unpack(kwargs, "opponent");
    env->reward_scale = (float)unpack(kwargs, "reward_scale");
    env->illegal_reward = (float)unpack(kwargs, "illegal_reward");
    int seats = (int)unpack(kwargs, "seats"), size = (int)unpack(kwargs, "size");
    if (PyErr_Occurred())
        return -1;
    if (nain_jaune_fingerprint() != NAIN_JAUNE_FINGERPRINT)
        PyErr_SetString(PyExc_ValueError, "libnainjaune and nain_jaune.h are of different versions");
    else if (init(env, knobs, seats, size))
        PyErr_SetString(PyExc_ValueError, "libnainjaune refuses the rules");
    return PyErr_Occurred() ? -1 : 0;
}

static int my_log(PyObject *dict, Log *log)
{
    assign_to_dict(dict, "episode_return", log->episode_return);
    assign_to_dict(dict, "episode_length", log->episode_length);
    assign_to_dict(dict, "illegal", log->illegal);
    return 0;
}
